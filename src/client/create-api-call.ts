import type { ApiCall, ResponseMeta } from './api-call.ts';

/** How a call ended well. */
export interface CallResult<Data> {
  readonly data: Data;
  /** Made when somebody asks: most callers want the data alone. */
  readonly meta: () => ResponseMeta;
}

/** A promise of the data that can also give the data with its meta; both come from the one call. */
export function createApiCall<Data>(result: Promise<CallResult<Data>>): ApiCall<Data> {
  const data = result.then((ended) => ended.data);
  return Object.assign(data, {
    withMeta: () => {
      // Whoever asks for the meta handles a failure there; `data` must not count as unhandled beside it.
      data.catch(() => undefined);
      return result.then((ended) => ({ data: ended.data, meta: ended.meta() }));
    },
  });
}
