import { LATEST_MS, type MockClock, parseInstant } from '../clock/clock.ts';
import { BEFORE_THE_END, type DrivenClock } from '../clock/driven-clock.ts';
import { invalidOption } from '../input/mock-server-error.ts';
import { quotaPeriod, quotaUse } from '../service/decide.ts';
import { MINUTE_MS, rateLimitOf } from '../service/rate-windows.ts';
import type { ServiceContext } from '../service/service-state.ts';

/** The public clock: it also advances to times of the service, and never moves back. */
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
      if (!(Number.isFinite(ms) && ms >= 0)) {
        throw invalidOption('advance', ms, 'milliseconds from 0; the clock cannot move backwards');
      }
      return await clock.advanceTo((now) => checkedTarget({ advance: ms }, now + ms));
    },
    async advanceTo(moment) {
      const next = moment === 'quota-reset' ? nextQuotaReset : moment === 'next-window' ? nextWindow : undefined;
      if (next !== undefined) return await clock.advanceTo(() => checkedTarget({ advanceTo: moment }, next(context)));
      const at = parseInstant('advanceTo', moment, "'quota-reset', 'next-window', ");
      if (at < clock.now()) {
        const now = new Date(clock.now()).toISOString();
        throw invalidOption('advanceTo', moment, `a moment not before ${now}; the clock cannot move backwards`);
      }
      return await clock.advanceTo(() => at);
    },
  };
}

/** Later times have no ISO 8601 form with four digits of the year. */
function checkedTarget(given: Readonly<Record<string, unknown>>, at: number): number {
  if (at <= LATEST_MS) return at;
  const [[method = '', value] = []] = Object.entries(given);
  throw invalidOption(method, value, `a move to a time ${BEFORE_THE_END}`);
}

/** The next end of a quota period of any key; without keys, of a period that starts now. */
function nextQuotaReset(context: ServiceContext): number {
  const { behaviour, state } = context;
  const now = context.now();
  const none = { createdAt: now, usedFrom: undefined };
  let earliest = Number.POSITIVE_INFINITY;
  for (const key of state.keys.values()) earliest = Math.min(earliest, quotaUse(key, now, behaviour).resetsAt);
  return Number.isFinite(earliest) ? earliest : quotaPeriod(behaviour.use('quotaPeriod'), now, none).end;
}

/** The first time at which every key has its full per-minute limit; the next minute if no key is in use. */
function nextWindow({ state, now }: ServiceContext): number {
  let latest = 0;
  for (const key of state.keys.values()) {
    for (const used of [key.window, key.quotaEndpointWindow]) {
      latest = Math.max(latest, used?.fullAt(rateLimitOf(key), now()) ?? 0);
    }
  }
  return latest > now() ? latest : (Math.floor(now() / MINUTE_MS) + 1) * MINUTE_MS;
}
