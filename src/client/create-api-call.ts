import type { ApiCall, ResponseMeta } from './api-call.ts';

/** A promise of the data that can also give the data with its meta; both come from the one call. */
export function createApiCall<Data>(
  answer: Promise<{ readonly data: Data; readonly meta: ResponseMeta }>,
): ApiCall<Data> {
  const data = answer.then((result) => result.data);
  return Object.assign(data, {
    withMeta: () => {
      // Whoever asks for the meta handles a failure there; `data` must not count as unhandled beside it.
      data.catch(() => undefined);
      return answer.then((result) => result); // a promise of its own: unhandled, when nobody handles that one either
    },
  });
}
