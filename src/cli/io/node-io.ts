import type { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type crossSpawn from 'cross-spawn';
import type { Clock } from '../../client/index.ts';
import { onAbort } from '../../foreign-values.ts';
import { exitCodes, signalExitCodes } from './exit-codes.ts';
import { httpFetch } from './http-fetch.ts';
import {
  type ChildProcess,
  type Env,
  type Input,
  Interrupted,
  type Interrupts,
  type Io,
  type Output,
  refuseEndless,
  type SignalName,
  WriteFailure,
} from './io.ts';
import { readTypedLine } from './typed-line.ts';
import { writeWhole } from './write-whole.ts';

/** Longest time after an interrupted command for what cannot be aborted, such as output that no program reads. */
const LAST_WORK_MS = 100;
/** The same before the command has ended: a mock server stores its state. */
const LAST_COMMAND_MS = 5_000;

/** Longest time for which an interrupted command waits for the reader of its last output. */
const LAST_WRITE_MS = 1_000;

/** Calls `end` if the process has not ended by itself. */
function endAfter(ms: number, end: () => void): void {
  // biome-ignore lint/plugin: `clock.sleep` would keep the process running; this timer must not
  setTimeout(end, ms).unref();
}

/** The real world, by way of `process`. */
export function createNodeIo(env: Env): Io & { readonly interrupts: NodeInterrupts } {
  const interrupts = createInterrupts(() => stderr.isTTY && void stderr.write('\n').catch(() => undefined));
  const stdout = createOutput(1, () => process.stdout, interrupts);
  const stderr = createOutput(2, () => process.stderr, interrupts);
  const neverBlock = () => {
    for (const output of [stdout, stderr]) output.neverBlock();
  };
  if (process.pid === 1) neverBlock();
  closeLostTerminals();
  return {
    stdin: createInput(interrupts),
    stdout,
    stderr,
    env,
    clock: realClock,
    fetch: httpFetch,
    interrupts,
    neverBlock,
    spawn: (command, more) => spawnChild(command, { ...env, ...more }),
  };
}

/** At its end, Node.js 20 resets terminals, and aborts if one is gone. It leaves out a closed descriptor. */
function closeLostTerminals(): void {
  const terminals = [0, 1, 2].filter(isTerminal);
  process.once('exit', () => {
    for (const descriptor of terminals) if (!isTerminal(descriptor)) closeSync(descriptor);
  });
}

/**
 * Node.js creates a stream at its first use, which takes milliseconds. A terminal and a full pipe need one, and so does a
 * process that no signal ends by itself: a write without a stream blocks it for as long as no program reads.
 */
function createOutput(
  fileDescriptor: number,
  streamOf: () => NodeJS.WriteStream,
  { signal, withoutListeners }: NodeInterrupts,
): Output & { neverBlock(): void } {
  let opened: NodeJS.WriteStream | undefined;
  const stream = () => {
    // Each write reports its own failure; without a listener the stream would end the process besides.
    opened ??= streamOf().on('error', () => undefined);
    return opened;
  };
  const isTTY = isTerminal(fileDescriptor);
  let isStream = isTTY;
  const mayBlock = async () => {
    if (isStream) return false;
    await receiveSignals();
    return opened === undefined && !signal.aborted;
  };
  return {
    isTTY,
    get columns() {
      return isTTY ? stream().columns : undefined;
    },
    neverBlock() {
      isStream = true;
      stream(); // Node.js unblocks a pipe now, except on Windows
    },
    write: async (chunk) => {
      try {
        const rest = (await mayBlock()) ? withoutListeners(() => writeWhole(fileDescriptor, chunk)) : chunk;
        if (rest.length > 0) await writeToStream(stream(), rest, signal);
      } catch (error) {
        throw error instanceof Interrupted ? error : new WriteFailure(error as Error); // of Node.js
      }
    },
  };
}

/** Rejects on an interrupt, or a while after one that has come before: the reader may read no more. */
function writeToStream(stream: NodeJS.WriteStream, chunk: string | Uint8Array, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const interrupt = () => reject(signal.reason);
    if (signal.aborted) endAfter(LAST_WRITE_MS, interrupt);
    const unlisten = onAbort(signal, interrupt); // a mock server has up to a thousand writes that wait
    stream.write(chunk, (error) => {
      unlisten();
      error ? reject(error) : resolve();
    });
  });
}

/** Signals that arrived while a callback ran are received when the event loop polls the next time: after a whole turn. */
async function receiveSignals(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** `node:tty` loads the network of Node.js, so it is asked about devices only. */
function isTerminal(fileDescriptor: number): boolean {
  try {
    if (!fstatSync(fileDescriptor).isCharacterDevice()) return false;
  } catch {
    // As in `isFolder`.
  }
  const { isatty } = createRequire(import.meta.url)('node:tty') as typeof import('node:tty');
  return isatty(fileDescriptor);
}

function createInput({ signal: interrupted, receive }: NodeInterrupts): Input {
  return {
    isTTY: isTerminal(0),
    typedLine: (prompt) =>
      readTypedLine({ stdin: process.stdin, stderr: process.stderr, interrupted, receive }, prompt),
    text: (failed, isEnough = () => false) =>
      readStdin(interrupted, isEnough).catch((cause) => {
        interrupted.throwIfAborted();
        return failed(cause);
      }),
  };
}

async function readStdin(interrupted: AbortSignal, isEnough: (text: string) => boolean): Promise<string> {
  // For Node.js, a folder is an empty stdin.
  if (isFolder(0)) throw Object.assign(new Error('stdin is a folder'), { code: 'EISDIR' });
  let text = '';
  const stop = () => process.stdin.destroy(interrupted.reason);
  interrupted.addEventListener('abort', stop, { once: true });
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk;
    refuseEndless(text.length);
    if (isEnough(text)) break; // leaving the loop closes stdin
  }
  interrupted.removeEventListener('abort', stop);
  return text;
}

function isFolder(fileDescriptor: number): boolean {
  try {
    return fstatSync(fileDescriptor).isDirectory();
  } catch {
    return false; // a closed descriptor, or a handle of Windows without a status
  }
}

interface NodeInterrupts extends Interrupts {
  receive(name: SignalName): void;
  /** Calls `action`, which can block. A signal meanwhile ends the process, because no listener could run. */
  withoutListeners<Result>(action: () => Result): Result;
  /** Ends the process after a command that an interrupt ended. */
  finish(exitCode: number): void;
}

const SIGNAL_NAMES = Object.keys(signalExitCodes) as readonly SignalName[]; // Object.keys loses the type

/** `endLine`: ends the line of a terminal that shows ^C. */
function createInterrupts(endLine: () => void): NodeInterrupts {
  const controller = new AbortController();
  let listener: ((name: SignalName) => void) | undefined;
  let received: SignalName | undefined;
  const receive = (name: SignalName) => {
    received = name;
    if (listener !== undefined) listener(name);
    else if (controller.signal.aborted) endBySignal(name);
    else controller.abort(new Interrupted(name));
    if (controller.signal.aborted) endAfter(LAST_COMMAND_MS, () => endBySignal(name));
  };
  const onSignal = (name: SignalName) => {
    if (name === 'SIGINT' || name === 'SIGQUIT') endLine();
    receive(name);
  };
  const listen = () => {
    for (const name of SIGNAL_NAMES) process.on(name, onSignal);
  };
  listen();
  return {
    signal: controller.signal,
    receive,
    withoutListeners(action) {
      for (const name of SIGNAL_NAMES) process.off(name, onSignal);
      try {
        return action();
      } finally {
        listen();
      }
    },
    finish(exitCode) {
      const endedBy = received !== undefined && exitCode === signalExitCodes[received] ? received : undefined;
      // A shell ends its loop only if a signal ended the command. Windows has only exit codes.
      if (endedBy !== undefined && process.platform !== 'win32') endBySignal(endedBy);
      const { aborted, reason } = controller.signal;
      // A command that has succeeded has ended its reads, for which `process.exit` would wait.
      if (aborted)
        endAfter(LAST_WORK_MS, () =>
          exitCode === exitCodes.ok ? process.exit(exitCode) : endBySignal(reason.signalName),
        );
    },
    takeOver(next) {
      listener = next;
      return () => {
        listener = undefined;
      };
    },
    async check() {
      await receiveSignals();
      controller.signal.throwIfAborted();
    },
  };
}

/** Sends the signal again: `process.exit` would wait for a read that cannot end, such as that of a pipe without a writer. */
function endBySignal(name: SignalName): void {
  process.removeAllListeners(name);
  // Of the first process of a container, the system ignores signals without a listener.
  if (process.pid === 1) process.exit(signalExitCodes[name]);
  process.kill(process.pid, name);
}

function spawnChild([program = '', ...args]: readonly string[], env: Env): ChildProcess {
  const starting = spawnFunction(process.platform).then((start) => start(program, args, { stdio: 'inherit', env }));
  const exited = starting.then(async (child) => {
    const [code, signal] = await once(child, 'exit');
    return { code, signal };
  });
  return { exited, kill: (name) => void starting.then((child) => child.kill(name)) };
}

/**
 * On Windows, `npm` is the script `npm.cmd`, which Node.js itself neither finds nor starts. Both modules are loaded only
 * here, because `node:child_process` takes a tenth of the time of `--help`.
 */
export async function spawnFunction(platform: NodeJS.Platform): Promise<typeof crossSpawn | typeof spawn> {
  return platform === 'win32' ? (await import('cross-spawn')).default : (await import('node:child_process')).spawn;
}

/** Node's timers take 32 bits. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's time. The client has a clock too, but a command that does not call the service never loads the client. */
export const realClock: Clock = {
  // biome-ignore lint/plugin: this is the real clock
  now: () => Date.now(),
  // biome-ignore lint/plugin: this is the real clock
  monotonicNow: () => performance.now(),
  async sleep(ms, signal) {
    for (let leftMs = ms; leftMs > 0; leftMs -= LONGEST_TIMER_MS) {
      await sleep(Math.min(leftMs, LONGEST_TIMER_MS), undefined, signal && { signal }).catch(() => {
        throw signal?.reason;
      });
    }
  },
};
