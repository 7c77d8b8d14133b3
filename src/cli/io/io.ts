import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import type { Clock, FetchLike } from '../../client/index.ts';
import type { signalExitCodes } from './exit-codes.ts';

/** Environment variables by name. */
export type Env = Readonly<Record<string, string | undefined>>;

/** All I/O of a command. `node-io.ts` creates it from `process`; tests pass a fake. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Env;
  readonly clock: Clock;
  /** Sends without a proxy. undici, which loads more slowly, is used only for proxies. */
  readonly fetch: FetchLike;
  readonly interrupts: Interrupts;
  /** IANA name of the zone for times that people read. Default: the system's. */
  readonly timeZone?: string;
  /** From now on, output for a full pipe is buffered and the process continues. An interrupt rejects such a write. */
  neverBlock(): void;
  spawn(command: readonly string[], env: Readonly<Record<string, string>>): ChildProcess;
}

/** Milliseconds for durations: unaffected when the system clock is set, and on most systems by a sleep of the machine. */
export function monotonicNow({ clock }: Pick<Io, 'clock'>): number {
  return clock.monotonicNow?.() ?? clock.now();
}

export interface Input {
  readonly isTTY: boolean;
  /** The text up to the end, or as soon as it `isEnough`. Rejects as `readLimited`. */
  text(failed: ReadFailed, isEnough?: (text: string) => boolean): Promise<string>;
  /** The question, on stderr, and the line typed after it. Rejects with an `Interrupted` on a signal, Ctrl-C and Ctrl-\. */
  typedLine(prompt: Prompt): Promise<string>;
}

export interface Prompt {
  readonly question: string;
  readonly isHidden?: boolean;
}

export interface Output {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  /** Resolves when the text is handed over. @throws WriteFailure */
  write(chunk: string | Uint8Array): Promise<void>;
}

/** A stream failed: a closed pipe (EPIPE), a full disk (ENOSPC). */
export class WriteFailure extends Error {
  override readonly name = 'WriteFailure';
  readonly code: string | undefined;

  constructor(cause: Error & { readonly code?: string }) {
    super(cause.message, { cause });
    this.code = cause.code;
  }
}

export type SignalName = keyof typeof signalExitCodes;

/** Ctrl-C, Ctrl-\, `kill` and a closed terminal. The first one aborts `signal`; the second one ends the process immediately. */
export interface Interrupts {
  /** Aborts with an `Interrupted`. */
  readonly signal: AbortSignal;
  /** Calls `listener` for each further signal instead. Returns a function that cancels this. */
  takeOver(listener: (name: SignalName) => void): () => void;
  /** Rejects after a signal, also after one that arrived during a long callback, which `signal` does not have yet. */
  check(): Promise<void>;
}

/** The reason of `Interrupts.signal`. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly signalName: SignalName;

  constructor(signalName: SignalName) {
    super(`interrupted by ${signalName}`);
    this.signalName = signalName;
  }
}

/** Rejects on an interrupt. */
async function orInterrupted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const interrupted = once(signal, 'abort').then(() => signal.throwIfAborted());
  return (await Promise.race([value, interrupted])) as Value; // the second one only rejects
}

/** More than recorded responses and queries have. A string of Node.js holds about twice as many. */
const MOST_BYTES = 256_000_000;

/** @throws Error for a size that no input has, but one without an end, such as `/dev/zero` or `yes` */
export function refuseEndless(size: number): void {
  if (size > MOST_BYTES) throw new Error(`it has more than ${MOST_BYTES} bytes`);
}

/** Throws the error for the user. */
type ReadFailed = (cause: NodeJS.ErrnoException) => never;

/**
 * The bytes of a file, a pipe or a device. Rejects once it has more than 256 MB: `/dev/zero` has no end. Also rejects when
 * `interrupted` aborts, because Node.js cannot abort the opening of a pipe without a writer. `failed` throws all other errors.
 */
export function readLimited(path: string, interrupted: AbortSignal, failed: ReadFailed): Promise<Buffer> {
  return orInterrupted(readAll(path).catch(failed), interrupted);
}

async function readAll(path: string): Promise<Buffer> {
  const bytes = Buffer.concat(await createReadStream(path, { end: MOST_BYTES }).toArray());
  refuseEndless(bytes.length);
  return bytes;
}

/** A program that `fxrates mock -- <command>` runs; it shares stdin, stdout and stderr with us. */
export interface ChildProcess {
  /** Rejects when the program cannot be started (ENOENT, EACCES). */
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  kill(signal: SignalName): void;
}
