import type { FetchLike } from '../../src/client/index.ts';

type Init = Parameters<FetchLike>[1];

/** A request that a fake `fetch` received. */
export interface SentRequest extends Init {
  readonly url: string;
}

/** A reply of a fake `fetch`: a response (`body` as JSON unless it is text), an error, or a hang. */
export type Reply =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: unknown }
  | Error
  | 'never'
  | 'stalled body'
  | ((request: SentRequest) => Reply | Response | Promise<Reply | Response>);

export interface FakeFetch extends FetchLike {
  /** The requests, in order. */
  readonly requests: SentRequest[];
}

/** Returns the replies in order, and repeats the last one. With `quota`, requests of `quota()` receive that reply. */
export function fakeFetch(replies: Reply | readonly Reply[], { quota }: { readonly quota?: Reply } = {}): FakeFetch {
  const queue: Reply[] = [...(Array.isArray(replies) ? (replies as readonly Reply[]) : [replies as Reply])];
  const requests: SentRequest[] = [];
  const fetch = async (url: string, init: Init): Promise<Response> => {
    const request = { url, ...init };
    requests.push(request);
    const isQuota = quota !== undefined && new URL(url).pathname.endsWith('/quota');
    const reply = isQuota ? quota : queue.length > 1 ? queue.shift()! : queue[0]!;
    return respond(reply, request);
  };
  return Object.assign(fetch, { requests });
}

async function respond(reply: Reply | Response, request: SentRequest): Promise<Response> {
  if (reply instanceof Error) throw reply;
  if (reply instanceof Response) return reply;
  if (reply === 'never') return whenAborted(request.signal);
  if (reply === 'stalled body') return new Response(stalledBody(request.signal), { status: 200 });
  if (typeof reply === 'function') return respond(await reply(request), request);
  const { status = 200, headers = {}, body = { success: true, data: {} } } = reply;
  return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function stalledBody(signal: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"success":'));
      signal.addEventListener('abort', () => controller.error(signal.reason), { once: true });
    },
  });
}
