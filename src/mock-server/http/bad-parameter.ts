import type { Behaviour } from '../behaviour/behaviour.ts';
import { statusAndCode } from '../service/status-and-code.ts';
import { type Answer, failure } from './answer.ts';

/** The answer to a parameter that cannot be; `undefined` when the switch says it is ignored. */
export function badParameter(message: string, behaviour: Behaviour): Answer | undefined {
  const value = behaviour.use('badParameter');
  return value === 'ignored' ? undefined : failure({ ...statusAndCode(value), message });
}
