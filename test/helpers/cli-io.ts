import { expect } from 'vitest';
import { type ChildProcess, Interrupted, type Io, type SignalName, WriteFailure } from '../../src/cli/io/io.ts';
import { main } from '../../src/cli/program/main.ts';
import { FakeClock } from './fake-clock.ts';
import { type FakeFetch, fakeFetch, type Reply } from './fake-fetch.ts';
import { API_KEY, success } from './service-replies.ts';

export interface FakeIoOptions {
  /** Added to a base URL, a key and a UTF-8 locale; `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly replies?: Reply | readonly Reply[];
  /** The response to a request for the quota. */
  readonly quota?: Reply;
  readonly fetch?: Io['fetch'];
  readonly clock?: Io['clock'];
  /** Virtual time stops here, for work that needs real time (files, sockets) and has later timeouts. */
  readonly horizonMs?: number;
  /** The streams that are terminals. */
  readonly tty?: readonly ('stdin' | 'stdout' | 'stderr')[];
  readonly columns?: number;
  readonly stdin?: string;
  /** Makes each write to stdout fail with this error code. */
  readonly stdoutError?: string;
  /** Number of writes to stdout that succeed before `stdoutError`. Default: 0. */
  readonly stdoutWrites?: number;
  readonly spawn?: Io['spawn'];
}

/** A fake environment for the command line, which records all output. */
export class FakeIo implements Io {
  readonly stdin: Io['stdin'];
  readonly stdout: Io['stdout'];
  readonly stderr: Io['stderr'];
  readonly env: Io['env'];
  readonly clock: Io['clock'];
  readonly fetch: Io['fetch'];
  readonly interrupts: Io['interrupts'];
  readonly timeZone = 'Europe/Berlin';
  readonly neverBlock = () => undefined;
  readonly spawn: Io['spawn'];
  readonly written = { stdout: '', stderr: '' };
  /** Both streams, as a terminal shows them. */
  sequence = '';
  readonly #interrupt = new AbortController();
  #listener: ((name: SignalName) => void) | undefined;

  constructor(options: FakeIoOptions = {}) {
    const { env = {}, tty = [], columns, stdin = '', stdoutError } = options;
    let { stdoutWrites = 0 } = options;
    const stream = (name: 'stdout' | 'stderr'): Io['stdout'] => ({
      isTTY: tty.includes(name),
      columns,
      write: async (chunk) => {
        if (name === 'stdout' && stdoutError !== undefined && stdoutWrites-- <= 0) {
          throw new WriteFailure(Object.assign(new Error(`write ${stdoutError}`), { code: stdoutError }));
        }
        const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
        this.written[name] += text;
        this.sequence += text;
      },
    });
    const typed = stdin.split('\n');
    this.stdin = {
      isTTY: tty.includes('stdin'),
      text: async () => stdin,
      typedLine: async ({ question }) => {
        this.written.stderr += `${question}\n`;
        return typed.shift() ?? '';
      },
    };
    this.stdout = stream('stdout');
    this.stderr = stream('stderr');
    this.env = { ...DEFAULT_ENV, ...env };
    this.clock = options.clock ?? new FakeClock();
    this.fetch = options.fetch ?? fakeFetch(options.replies ?? success(), replyToQuota(options));
    this.spawn = options.spawn ?? noProgram;
    this.interrupts = {
      signal: this.#interrupt.signal,
      takeOver: (listener) => {
        this.#listener = listener;
        return () => {
          this.#listener = undefined;
        };
      },
      check: async () => this.#interrupt.signal.throwIfAborted(),
    };
  }

  /** Simulates Ctrl-C or `kill`. */
  interrupt(name: SignalName): void {
    if (this.#listener !== undefined) this.#listener(name);
    else this.#interrupt.abort(new Interrupted(name));
  }
}

const DEFAULT_ENV = {
  FXRATES_BASE_URL: 'https://api.example.test',
  FXRATES_API_KEY: API_KEY,
  LANG: 'C.UTF-8',
  TERM: 'xterm',
};

function replyToQuota({ quota }: FakeIoOptions): { readonly quota?: Reply } {
  return quota === undefined ? {} : { quota };
}

const noProgram: Io['spawn'] = (): ChildProcess => ({
  exited: Promise.reject(Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT', syscall: 'spawn' })),
  kill: () => undefined,
});

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly requests: FakeFetch['requests'];
  readonly io: FakeIo;
}

/**
 * Runs a command line that is wrong: a usage error, which is reported before anything is sent or printed. Returns what it
 * says.
 */
export async function usageError(line: string | readonly string[], options: FakeIoOptions = {}): Promise<string> {
  const { code, stdout, stderr, requests } = await runCli(line, options);
  expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
  return stderr;
}

/** The values of output with one JSON text per line. */
export function jsonLines(text: string) {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

/** Runs a command line in virtual time. The arguments are separated by spaces, without quotes. */
export async function runCli(line: string | readonly string[], options: FakeIoOptions = {}): Promise<CliResult> {
  const io = new FakeIo(options);
  const argv = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
  const running = main(argv, io);
  const code = await (io.clock instanceof FakeClock
    ? io.clock.run(running, { horizonMs: options.horizonMs ?? Number.POSITIVE_INFINITY })
    : running);
  const requests = 'requests' in io.fetch ? (io.fetch as FakeFetch).requests : [];
  return { code, ...io.written, requests, io };
}
