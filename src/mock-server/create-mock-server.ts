import { operations } from '../generated/operations.ts';
import { createFetch } from './adapters/fetch.ts';
import { Overrides } from './adapters/overrides.ts';
import { createAssumptionCheck } from './behaviour/assumptions.ts';
import { Behaviour } from './behaviour/behaviour.ts';
import { createClock } from './clock/create-clock.ts';
import { withDashboard } from './dashboard/with-dashboard.ts';
import { createExchange } from './exchange.ts';
import { createMockFaults } from './faults/mock-faults.ts';
import { Waits } from './faults/waits.ts';
import { WaysIn } from './faults/ways-in.ts';
import { createHandler } from './http/handler.ts';
import { createIdentify } from './http/identify-request.ts';
import { quotaResponder } from './http/quota-responder.ts';
import { Journal } from './journal/journal.ts';
import { checkOptions, type MockServerOptions } from './mock-options.ts';
import { MockServer } from './mock-server.ts';
import { createLatestResponder } from './rates/latest-responder.ts';
import { emptyState } from './service/service-state.ts';

/**
 * An emulated exchange-rate service with its own accounts, limits and clock; it shares nothing with any other.
 * Throws `MockServerError` for an option that cannot be.
 */
export function createMockServer(options: MockServerOptions = {}): MockServer {
  const checked = checkOptions(options);
  const { seed, baseUrl } = checked;
  const clock = createClock(checked.clock);
  const behaviour = new Behaviour(checked.behaviour, { unsafe: checked.unsafe });
  const journal = new Journal(checked.journalSize);
  const overrides = new Overrides(baseUrl);
  const context = { state: emptyState(seed), behaviour, now: () => clock.now() };
  const service = createHandler({
    context,
    checkAssumptions: createAssumptionCheck(checked.onAssumption, behaviour, warn),
    operations,
    responders: { latest: createLatestResponder(checked.source), quota: quotaResponder },
  });
  const identify = createIdentify(context, operations);
  const handler = withDashboard(service, context);
  const waits = new Waits(clock);
  const ways = new WaysIn();
  const faults = createMockFaults({ context, operations, ways });
  const exchange = createExchange({ handler, overrides, clock, journal, identify, context, waits });
  const fetch = createFetch(baseUrl, exchange);
  return new MockServer({ baseUrl, seed, clock, context, journal, overrides, exchange, fetch, faults, ways, waits });
}

function warn(text: string): void {
  process.emitWarning(text, { type: 'FxratesMockWarning', code: 'FXRATES_ASSUMPTION' });
}
