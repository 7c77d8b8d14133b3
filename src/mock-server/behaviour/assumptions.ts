import type { MockResponse } from '../http/mock-message.ts';
import { errorResponse } from '../http/responses.ts';
import type { Behaviour } from './behaviour.ts';
import type { SwitchName } from './switches.ts';

/** Reaction to a response that depends on an assumed value that was not set. */
export type OnAssumption = 'ignore' | 'warn' | 'error';

/** Checks a response that depends on `switches`. Returns it, or another response in its place. */
export type CheckAssumptions = (response: MockResponse, switches: readonly SwitchName[]) => MockResponse;

/**
 * Creates the check. `error` responds with 501 `assumption`, which clients do not retry, so the test fails immediately with this
 * text. `warn` warns once of each assumption.
 */
export function createAssumptionCheck(
  onAssumption: OnAssumption,
  behaviour: Behaviour,
  warn: (text: string) => void,
): CheckAssumptions | undefined {
  if (onAssumption === 'ignore') return undefined;
  const act = onAssumption === 'error' ? assumptionResponse : warnOnce(warn);
  return (response, switches) => {
    const assumptions = behaviour
      .assumptionsAmong(switches)
      .map((name) => `${name}: ${JSON.stringify(behaviour.values[name])}`);
    return (assumptions.length > 0 ? act(assumptions) : undefined) ?? response;
  };
}

function warnOnce(warn: (text: string) => void) {
  const warned = new Set<string>();
  return (assumptions: readonly string[]): undefined => {
    const fresh = assumptions.filter((assumption) => !warned.has(assumption));
    for (const assumption of fresh) warned.add(assumption);
    if (fresh.length > 0) warn(explanation(fresh));
  };
}

function assumptionResponse(assumptions: readonly string[]): MockResponse {
  return errorResponse({ status: 501, code: 'assumption', message: explanation(assumptions) });
}

/** Ready to be copied into the test. */
function explanation(assumptions: readonly string[]): string {
  return `The response depends on undocumented behaviour of the service. To accept it, use createMockServer({ behaviour: { ${assumptions.join(', ')} } }).`;
}
