import { AuthenticationError } from '../errors/errors.ts';
import { ApiKey } from '../keys/api-key.ts';
import type { KeySource } from '../keys/key-source.ts';
import type { ApiRequest, Handler, KeyedRequest } from '../request.ts';

/**
 * Gives each call its key, and once another one: when the service refuses a key, the source is asked again, and a
 * call refused with the old key is sent with the new one (SERVICE.md, States: rotation).
 */
export function useKey(keys: KeySource) {
  return (next: Handler): Handler<ApiRequest> => {
    const sendAgain = async (request: ApiRequest, refused: ApiKey, error: AuthenticationError) => {
      const key = await keys.replacementFor(refused, request.signal);
      if (key === undefined) throw error;
      request.log.again('key_rotated');
      return next(keyed(request, key));
    };

    return async (request) => {
      const current = keys.current(request.signal);
      const key = current instanceof ApiKey ? current : await current;
      return next(keyed(request, key)).catch((error: unknown) => {
        if (error instanceof AuthenticationError) return sendAgain(request, key, error);
        throw error;
      });
    };
  };
}

/** Field by field: V8 gives what is spread and then extended a hidden class of its own, one more for each call. */
function keyed({ endpoint, settings, signal, deadlineAt, log }: ApiRequest, key: ApiKey): KeyedRequest {
  return { endpoint, settings, signal, deadlineAt, log, key };
}
