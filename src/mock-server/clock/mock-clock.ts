import { invalidOption } from '../mock-server-error.ts';
import { nextQuotaReset, nextWindow } from '../service/next-moment.ts';
import type { ServiceContext } from '../service/service-state.ts';
import type { DrivenClock, MockClock } from './clock.ts';
import { LATEST_MS, parseInstant } from './instant.ts';

/** The clock as users see it: it knows the moments of the service, and does not go back. */
export function createMockClock(clock: DrivenClock, context: ServiceContext): MockClock {
  return {
    mode: clock.mode,
    get isFrozen() {
      return clock.isFrozen;
    },
    freeze: () => clock.freeze(),
    resume: () => clock.resume(),
    now: () => clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
    async advance(ms) {
      if (!(Number.isFinite(ms) && ms >= 0 && clock.now() + ms <= LATEST_MS)) {
        throw invalidOption('advance', ms, 'milliseconds from 0 up to the year 9999; time goes forward');
      }
      return await clock.advanceTo((now) => now + ms);
    },
    async advanceTo(moment) {
      if (moment === 'quota-reset') return await clock.advanceTo(() => nextQuotaReset(context));
      if (moment === 'next-window') return await clock.advanceTo(() => nextWindow(context));
      const at = parseInstant('advanceTo', moment);
      if (at < clock.now()) {
        const now = new Date(clock.now()).toISOString();
        throw invalidOption('advanceTo', moment, `a moment from ${now} on; time goes forward`);
      }
      return await clock.advanceTo(() => at);
    },
  };
}
