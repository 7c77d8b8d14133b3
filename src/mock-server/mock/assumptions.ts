import type { Behaviour } from '../behaviour/behaviour.ts';
import type { SwitchName } from '../behaviour/switches.ts';
import type { MockResponse } from '../http/message.ts';
import { errorResponse } from '../http/responses.ts';

/** Reaction to a response that depends on an assumed value that was not set. */
export type OnAssumption = 'ignore' | 'warn' | 'error';

/** What a mock does about assumptions. */
export interface AssumptionContext {
  readonly behaviour: Behaviour;
  readonly options: { readonly onAssumption: OnAssumption };
  /** The assumptions that a process warning has named. */
  readonly warned: Set<string>;
}

/**
 * The response, or 501 `assumption` in its place, which clients do not retry, so the test fails immediately with this text.
 * `'warn'` warns once of each assumption.
 */
export function checkAssumptions(
  { behaviour, options, warned }: AssumptionContext,
  response: MockResponse,
  switches: readonly SwitchName[],
): MockResponse {
  const assumptions = behaviour
    .assumptionsAmong(switches)
    .map((name) => `${name}: ${JSON.stringify(behaviour.values[name])}`)
    .filter((assumption) => !warned.has(assumption));
  if (assumptions.length === 0) return response;
  // Ready to be copied into the test.
  const message = `The response depends on undocumented behaviour of the service. To accept it, use createMockServer({ behaviour: { ${assumptions.join(', ')} } }).`;
  if (options.onAssumption === 'error') return errorResponse({ status: 501, code: 'assumption', message });
  for (const assumption of assumptions) warned.add(assumption);
  process.emitWarning(message, { type: 'FxratesMockWarning', code: 'FXRATES_ASSUMPTION' });
  return response;
}
