import { errorResponse, type ServiceResponse } from '../http/service-response.ts';
import { invalidOption } from '../mock-server-error.ts';
import type { Behaviour } from './behaviour.ts';
import type { SwitchName } from './switches.ts';

/** What happens if a response depends on an assumed value that was not set. */
export type OnAssumption = 'ignore' | 'warn' | 'error';

/** Checks a response that depends on `switches`. Returns it, or another response in its place. */
export type CheckAssumptions = (answer: ServiceResponse, switches: readonly SwitchName[]) => ServiceResponse;

/**
 * Makes the check. `error` answers 501 `assumption` in every adapter: clients do not repeat a 501, so that a test fails
 * at once and with this text. `warn` tells once of each guess.
 */
export function createAssumptionCheck(
  onAssumption: OnAssumption,
  behaviour: Behaviour,
  warn: (text: string) => void,
): CheckAssumptions | undefined {
  if (onAssumption === 'ignore') return undefined;
  const act = onAssumption === 'error' ? assumptionResponse : warnOnce(warn);
  return (answer, switches) => {
    const guesses = behaviour
      .guessesAmong(switches)
      .map((name) => `${name}: ${JSON.stringify(behaviour.values[name])}`);
    return (guesses.length > 0 ? act(guesses) : undefined) ?? answer;
  };
}

function warnOnce(warn: (text: string) => void) {
  const told = new Set<string>();
  return (guesses: readonly string[]): undefined => {
    const fresh = guesses.filter((guess) => !told.has(guess));
    for (const guess of fresh) told.add(guess);
    if (fresh.length > 0) warn(explanation(fresh));
  };
}

function assumptionResponse(guesses: readonly string[]): ServiceResponse {
  return errorResponse({ status: 501, code: 'assumption', message: explanation(guesses) });
}

/** Ready to be copied into the test. */
function explanation(guesses: readonly string[]): string {
  return `The response depends on undocumented behaviour of the service. To accept it, use createMockServer({ behaviour: { ${guesses.join(', ')} } }).`;
}

export function checkedOnAssumption(value: unknown): OnAssumption {
  if (value === 'ignore' || value === 'warn' || value === 'error') return value;
  throw invalidOption('onAssumption', value, "'ignore', 'warn' or 'error'");
}
