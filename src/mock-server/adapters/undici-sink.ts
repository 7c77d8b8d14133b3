import type { Dispatcher } from 'undici';
import type { Delivery } from '../http/mock-message.ts';
import { reasonPhrase } from '../http/service-response.ts';
import { load } from './load-packages.ts';
import { brokenConnection } from './web-messages.ts';

/** Status and headers of a response. */
interface ResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
}

interface SentResponse extends ResponseHead {
  readonly pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** Default: `'whole'`. */
  readonly ending?: Delivery['ending'] | undefined;
}

/** Timeouts of undici in real time; by default none. */
type Timeouts = Pick<Dispatcher.DispatchOptions, 'headersTimeout' | 'bodyTimeout'>;

/** Whether the reader accepts more data. */
type Flow = Pick<ResponseSink, 'isPaused' | 'pause' | 'resume'>;

/** Sends a response to a handler of undici, of the old or the new interface. */
export class ResponseSink {
  /** Handlers of undici 7 have `onRequestStart`; those of `fetch` in Node.js 20, and older ones, have `onConnect`. */
  readonly #steps: Steps;
  #isOver = false;
  #isPaused = false;
  #resumed: (() => void) | undefined;
  #disconnected: AbortController | undefined;
  readonly #timeouts: Timeouts;
  #timeout: NodeJS.Timeout | undefined;

  constructor(handler: Dispatcher.DispatchHandler, timeouts: Timeouts) {
    this.#timeouts = timeouts;
    this.#steps = handler.onRequestStart === undefined ? oldSteps(handler, this) : newSteps(handler, this);
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    if (this.#isPaused && !this.#isOver) this.#startTimeout('body');
    this.#isPaused = false;
    this.#resumed?.();
  }

  /** Aborts when the handler no longer waits for a response. Created on first use, because only faults need it. */
  get signal(): AbortSignal {
    this.#disconnected ??= new AbortController();
    if (this.#isOver) this.#disconnected.abort();
    return this.#disconnected.signal;
  }

  /** Starts the handler, which may abort immediately. Returns whether it waits for a response. */
  begin(): boolean {
    try {
      this.#steps.begin((reason) => this.fail(reason ?? new (load('undici').errors.RequestAbortedError)()));
    } catch (error) {
      this.fail(error as Error);
    }
    if (!this.#isOver) this.#startTimeout('headers');
    return !this.#isOver;
  }

  /** Releases the handler for another dispatcher. Returns whether it waits for a response. */
  leave(): boolean {
    const isWanted = !this.#isOver;
    this.#isOver = true;
    clearTimeout(this.#timeout);
    return isWanted;
  }

  /**
   * Sends a response to the handler, and waits while the reader is slow. Rejects with an error of the body, or of the
   * handler before its last step.
   */
  async send({ pieces, ending = 'whole', ...head }: SentResponse): Promise<void> {
    if (this.#isOver) return;
    this.#startTimeout('body');
    this.#steps.head(head);
    for await (const piece of pieces) {
      if (!(await this.#isFree())) return;
      this.#startTimeout('body');
      this.#steps.data(Buffer.from(piece));
    }
    if (!(await this.#isFree())) return;
    if (ending !== 'whole') return this.fail(brokenConnection(ending));
    this.#finish();
    // As in undici's client: the retry handler throws here to send the request again.
    try {
      this.#steps.end();
    } catch (error) {
      this.#steps.error(error as Error);
    }
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#finish();
    this.#steps.error(error);
  }

  #finish(): void {
    this.#isOver = true;
    clearTimeout(this.#timeout);
    this.#disconnected?.abort();
    this.resume();
  }

  #startTimeout(part: 'headers' | 'body'): void {
    clearTimeout(this.#timeout);
    const ms = this.#timeouts[`${part}Timeout`];
    if (!ms) return; // 0 disables it
    const { HeadersTimeoutError, BodyTimeoutError } = load('undici').errors;
    const error = part === 'headers' ? new HeadersTimeoutError() : new BodyTimeoutError();
    // biome-ignore lint/plugin: stands for a timer of undici, which also runs in real time.
    this.#timeout = setTimeout(() => this.#isPaused || this.fail(error), ms);
  }

  /** Waits while the reader is slow. Returns whether the handler still waits for the response. */
  async #isFree(): Promise<boolean> {
    while (this.#isPaused && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#resumed = resolve;
      });
    }
    return !this.#isOver;
  }
}

/** The steps of a response, in the order in which a handler receives them. */
interface Steps {
  readonly begin: (abort: (reason?: Error) => void) => void;
  readonly head: (head: ResponseHead) => void;
  readonly data: (chunk: Buffer) => void;
  readonly end: () => void;
  readonly error: (error: Error) => void;
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
