import { retryAfter, type HintForm as WrittenForm } from '../../bench/limits/wild/server.ts';
import { createWindow, type Window, type WindowKind } from '../../bench/limits/wild/windows.ts';

/** Forms of Retry-After. `floor` is too small by up to a second; a number is the value for every wait. */
export type HintForm = WrittenForm | 'floor';

export const WINDOW_KINDS: readonly WindowKind[] = ['fixed-minute', 'fixed-first-hit', 'sliding-log', 'bucket'];
export const HINT_FORMS: readonly HintForm[] = [
  ...(['seconds', 'fraction', 'milliseconds', 'date', 'absent', 'floor'] as const),
  60,
];

export interface ServerOptions {
  readonly window: WindowKind;
  readonly limit: number;
  readonly hint: HintForm;
  /** Server clock minus client clock. Default: 0. */
  readonly skewMs?: number;
}

export interface SimulatedResponse {
  readonly status: 200 | 429;
  readonly date: string;
  readonly retryAfter: string | undefined;
}

/** A server that counts only accepted requests. Times are those of the simulation; its own clock is skewed. */
export class LimitedServer {
  readonly #window: Window;
  readonly #hint: HintForm;
  readonly #skewMs: number;
  refused = 0;

  constructor({ window, limit, hint, skewMs = 0 }: ServerOptions) {
    this.#window = createWindow({ kind: window, limit });
    this.#hint = hint;
    this.#skewMs = skewMs;
  }

  waitMs(now: number): number {
    return this.#window.waitMs(now + this.#skewMs);
  }

  receive(now: number): SimulatedResponse {
    const waitMs = this.waitMs(now);
    const serverNow = now + this.#skewMs;
    const date = new Date(serverNow).toUTCString();
    if (waitMs <= 0) {
      this.#window.accept(serverNow);
      return { status: 200, date, retryAfter: undefined };
    }
    this.refused += 1;
    const hint = this.#hint === 'floor' ? String(Math.floor(waitMs / 1000)) : retryAfter(this.#hint, waitMs, serverNow);
    return { status: 429, date, retryAfter: hint };
  }
}
