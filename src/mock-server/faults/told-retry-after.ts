import type { Handled } from '../http/handler.ts';
import type { ServiceContext } from '../service/service-state.ts';

/** Remembers when a key's last Retry-After runs out, before the service decides on its next request. */
export function rememberRetryAt({ state, behaviour, now }: ServiceContext, keyId: string | undefined) {
  const key = state.keys.get(keyId ?? '');
  const retryAt = key?.retryAt;
  return {
    /** A client has to obey the Retry-After that it was told, not the one that a fault has kept from it. */
    correct(decided: Handled, told: Handled): void {
      const value = retryAfterIn(told);
      if (key === undefined || retryAt === undefined || value === retryAfterIn(decided)) return;
      const unitMs = behaviour.values.retryAfterUnit === 'seconds' ? 1000 : 1;
      const isNumber = value !== undefined && /^\d+(?:\.\d+)?$/.test(value);
      key.retryAt = isNumber ? now() + Number(value) * unitMs : retryAt;
    },
  };
}

function retryAfterIn({ response, waitMs }: Handled): string | undefined {
  if (waitMs === Number.POSITIVE_INFINITY || response?.delivery?.sendsHead === false) return undefined;
  return response?.headers['retry-after'];
}
