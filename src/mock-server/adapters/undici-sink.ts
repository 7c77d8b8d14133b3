import type { Dispatcher } from 'undici';
import { headersWithCookies, type MockResponse, piecesOf } from '../http/mock-message.ts';
import { reasonPhrase } from '../http/service-response.ts';
import { brokenConnection } from './web-messages.ts';

/** Where a dispatched request gets its response; hides that undici has two generations of handlers. */
export interface ResponseSink {
  /** Starts the handler, which may abort at once. Returns whether a response is still wanted. */
  begin(): boolean;
  /** Passes the response to the handler; waits while the reader is slow. Does nothing after an abort. */
  send(answer: MockResponse): Promise<void>;
  /** The same for a body that comes bit by bit; rejects with what reading it throws. */
  stream(head: ResponseHead, pieces: Pieces): Promise<void>;
  /** Passes the handler to another dispatcher. Returns whether a response is still wanted. */
  leave(): boolean;
  fail(error: Error): void;
  /** Aborts when no response is wanted any more. */
  readonly gone: AbortSignal;
}

/** What a response begins with. */
interface ResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** The handlers of undici 7 have `onRequestStart`; those of `fetch` in Node 20, and undici's own old ones, `onConnect`. */
export function responseSink(handler: Dispatcher.DispatchHandler, aborted: () => Error): ResponseSink {
  const flow = new Flow();
  const steps = handler.onRequestStart === undefined ? oldSteps(handler, flow) : newSteps(handler, flow);
  const fail = (error: Error) => {
    if (flow.isOver) return;
    flow.finish();
    steps.error(error);
  };
  const end = () => {
    if (flow.isOver) return;
    flow.finish();
    steps.end();
  };
  return {
    begin() {
      steps.begin((reason) => fail(reason ?? aborted()));
      return !flow.isOver;
    },
    fail,
    get gone() {
      return flow.gone;
    },
    leave() {
      const isWanted = !flow.isOver;
      flow.isOver = true;
      return isWanted;
    },
    async send(answer) {
      const head = { status: answer.status, headers: headersWithCookies(answer) };
      await sendAll(head, bodyOf(answer, flow), { flow, steps });
      const { ending = 'whole' } = answer.delivery ?? {};
      if (ending === 'whole') end();
      else fail(brokenConnection(ending));
    },
    async stream(head, pieces) {
      await sendAll(head, pieces, { flow, steps });
      end();
    },
  };
}

interface SinkState {
  readonly flow: Flow;
  readonly steps: Steps;
}

async function sendAll(head: ResponseHead, pieces: Pieces, { flow, steps }: SinkState): Promise<void> {
  if (flow.isOver) return;
  steps.head(head);
  for await (const piece of pieces) {
    if (!(await flow.isFree())) return;
    steps.data(Buffer.from(piece));
  }
  await flow.isFree();
}

function bodyOf(answer: MockResponse, flow: Flow): Pieces {
  if (answer.delivery !== undefined) return piecesOf(answer, answer.delivery, flow.gone);
  return answer.body.length > 0 ? [Buffer.from(answer.body)] : [];
}

/** The steps of a response, in the order in which a handler receives them. */
interface Steps {
  readonly begin: (abort: (reason?: Error) => void) => void;
  readonly head: (head: ResponseHead) => void;
  readonly data: (chunk: Buffer) => void;
  readonly end: () => void;
  readonly error: (error: Error) => void;
}

/** Whether the reader wants more, and whether anything more may be said. */
class Flow {
  isOver = false;
  isPaused = false;
  #resumed: (() => void) | undefined;
  #gone: AbortController | undefined;

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.#resumed?.();
  }

  finish(): void {
    this.isOver = true;
    this.#gone?.abort();
    this.resume();
  }

  /** Made when a fault asks for it. */
  get gone(): AbortSignal {
    this.#gone ??= new AbortController();
    if (this.isOver) this.#gone.abort();
    return this.#gone.signal;
  }

  /** Waits while paused; false when it is over. */
  async isFree(): Promise<boolean> {
    while (this.isPaused && !this.isOver) {
      await new Promise<void>((resolve) => {
        this.#resumed = resolve;
      });
    }
    return !this.isOver;
  }
}

function newSteps(handler: Dispatcher.DispatchHandler, flow: Flow): Steps {
  let abort: (reason?: Error) => void = () => undefined;
  let reason: Error | null = null;
  const controller: Dispatcher.DispatchController = {
    get aborted() {
      return reason !== null;
    },
    get paused() {
      return flow.isPaused;
    },
    get reason() {
      return reason;
    },
    rawHeaders: null,
    rawTrailers: null,
    pause: () => flow.pause(),
    resume: () => flow.resume(),
    abort: (given) => {
      reason = given;
      abort(given);
    },
  };
  return {
    begin: (abortRequest) => {
      abort = abortRequest;
      handler.onRequestStart?.(controller, {});
    },
    head: ({ status, headers }) => {
      const given = Object.entries(headers).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : [...value],
      ]);
      handler.onResponseStart?.(controller, status, Object.fromEntries(given), reasonPhrase(status));
    },
    data: (chunk) => handler.onResponseData?.(controller, chunk),
    end: () => handler.onResponseEnd?.(controller, {}),
    error: (error) => handler.onResponseError?.(controller, error),
  };
}

function oldSteps(handler: Dispatcher.DispatchHandler, flow: Flow): Steps {
  const pauseIf = (wantsMore: boolean | undefined) => {
    if (wantsMore === false) flow.pause();
  };
  return {
    begin: (abort) => handler.onConnect?.(abort),
    head: ({ status, headers }) => {
      const raw = Object.entries(headers).flatMap(([name, values]) =>
        [values].flat().flatMap((value) => [Buffer.from(name), Buffer.from(value, 'latin1')]),
      );
      pauseIf(handler.onHeaders?.(status, raw, () => flow.resume(), reasonPhrase(status)));
    },
    data: (chunk) => pauseIf(handler.onData?.(chunk)),
    end: () => handler.onComplete?.([]),
    error: (error) => handler.onError?.(error),
  };
}
