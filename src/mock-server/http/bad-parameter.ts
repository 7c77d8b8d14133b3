import type { Behaviour } from '../behaviour/behaviour.ts';
import { statusAndCode } from '../service/status-and-code.ts';
import { errorResponse, type ServiceResponse } from './service-response.ts';

/** The answer to a parameter that cannot be; `undefined` when the switch says it is ignored. */
export function badParameter(message: string, behaviour: Behaviour): ServiceResponse | undefined {
  const value = behaviour.use('badParameter');
  return value === 'ignored' ? undefined : errorResponse({ ...statusAndCode(value), message });
}
