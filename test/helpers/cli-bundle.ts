import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hasProgram } from './has-program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The command line that `npm run build` makes. */
export const BUNDLE = join(root, 'dist/cli/fxrates.cjs');

/**
 * Whether `dist/` is complete, and was built from the sources as they are now. A bench builds it without types, and a
 * pull makes it old. Then, the tests of the package are reported as skipped.
 */
export const hasBundle = existsSync(join(root, 'dist/index.d.ts')) && builtAt() > changedAt();

function builtAt(): number {
  return existsSync(BUNDLE) ? statSync(BUNDLE).mtimeMs : 0;
}

function changedAt(): number {
  const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true });
  return Math.max(
    ...files.filter((file) => file.isFile()).map((file) => statSync(join(file.parentPath, file.name)).mtimeMs),
  );
}

export interface BundleOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Text for stdin, which is then closed; `'open'` leaves the pipe open without data. */
  readonly stdin?: string | 'open';
}

export interface BundleResult {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Longest wait for a program. Far above what a busy machine takes, and below the limit of a test, so that it says what hung. */
const LONGEST_WAIT_MS = 300_000;

/** For jest and vitest, whose own limit of 5 s a test may exceed on a busy machine. */
export const PATIENT = `--testTimeout=${LONGEST_WAIT_MS}`;

/** A spawned program with its output so far. */
export class Running {
  readonly pid: number;
  stdout = '';
  stderr = '';
  readonly #child;
  readonly #closed: Promise<BundleResult>;

  constructor(program: string, args: readonly string[], { env = {}, stdin = '' }: BundleOptions) {
    const child = spawn(program, args, { env: { ...cleanEnv(), ...env } });
    this.#child = child;
    this.pid = child.pid ?? 0;
    child.stdout.setEncoding('utf8').on('data', (text) => {
      this.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      this.stderr += text;
    });
    child.stdin.on('error', () => undefined); // a program may exit without reading
    if (stdin !== 'open') child.stdin.end(stdin);
    this.#closed = once(child, 'close').then(([code, signal]) => ({
      code,
      signal,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** The end of the program and of all programs that have its output. */
  get ended(): Promise<BundleResult> {
    return this.within(this.#closed, 'its end');
  }

  /** `wait`, which fails with the output after the longest time. The program is killed then. */
  within<Result>(wait: Promise<Result>, awaited: string): Promise<Result> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const { exitCode, signalCode, spawnargs } = this.#child;
        const state = exitCode ?? signalCode ?? 'still running';
        const output = `${this.stdout}${this.stderr}`;
        reject(new Error(`waited too long for ${awaited} of ${spawnargs.join(' ')} (${state}): ${output}`));
        this.#child.kill('SIGKILL');
        for (const stream of [this.#child.stdout, this.#child.stderr]) stream.destroy(); // also open in its own children
      }, LONGEST_WAIT_MS);
      wait.then(resolve, reject).finally(() => clearTimeout(timer));
    });
  }

  /** Resolves when `stream` contains `text`; rejects when the program exits without it. */
  shows(stream: 'stdout' | 'stderr', text: string): Promise<void> {
    return this.within(this.#shows(stream, text), `'${text}'`);
  }

  async #shows(stream: 'stdout' | 'stderr', text: string): Promise<void> {
    const hasEnded = this.#closed.then(() => true);
    while (!this[stream].includes(text)) {
      const next = once(this.#child[stream], 'data').then(() => false);
      if (await Promise.race([next, hasEnded])) {
        if (this[stream].includes(text)) return;
        throw new Error(`ended without '${text}': ${this.stdout}${this.stderr}`);
      }
    }
  }

  /** Resolves when `isSo`, which the system is asked about repeatedly. */
  async until(isSo: () => Promise<boolean>, awaited: string): Promise<void> {
    let isOver = false;
    const ask = async () => {
      while (!isOver && !(await isSo()));
    };
    await this.within(ask(), awaited).finally(() => {
      isOver = true;
    });
  }

  write(text: string): void {
    this.#child.stdin.write(text);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }
}

/** Runs the bundle. */
export function startBundle(args: readonly string[], options: BundleOptions = {}): Running {
  return new Running(process.execPath, [BUNDLE, ...args], options);
}

export function runBundle(args: readonly string[], options: BundleOptions = {}): Promise<BundleResult> {
  return startBundle(args, options).ended;
}

/** Whether `script` of util-linux, which runs a program in a terminal of its own, is installed. */
export const hasTerminal = hasProgram('script');

/** Runs the bundle with these arguments in a terminal, into which a test can type. */
export function startOnTerminal(line: string, env: BundleOptions['env'] = {}, columns = 80): Running {
  const command = `stty cols ${columns}; "${process.execPath}" "${BUNDLE}" ${line}`;
  return new Running('script', ['-qec', command, '/dev/null'], { env: { TERM: 'xterm', ...env }, stdin: 'open' });
}

/** Runs a line of bash in which `fxrates` calls the bundle. */
export function runShell(line: string, options: BundleOptions = {}): Promise<BundleResult> {
  const script = `set -o pipefail; fxrates() { "${process.execPath}" "${BUNDLE}" "$@"; }; ${line}`;
  return new Running('bash', ['-c', script], options).ended;
}

/** Without settings of the machine: no key, no proxy, no colour. */
function cleanEnv(): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH, HOME: '/nonexistent', LANG: 'C.UTF-8', TZ: 'UTC' };
}
