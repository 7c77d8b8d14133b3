import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Prompt, SignalName } from './io.ts';

interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: Pick<NodeJS.WriteStream, 'write' | 'columns'>;
  /** Aborts on a signal. */
  readonly interrupted: AbortSignal;
  /** Called for a key that would send a signal, had the terminal not been in raw mode. */
  readonly receive: (signal: SignalName) => void;
}

/**
 * Reads a line from the terminal. The question follows after the echo is off, so that a pasted key never shows; whatever
 * ends the wait turns the echo on again. Characters after the line are left for the next one.
 */
export async function readTypedLine(
  { stdin, stderr, interrupted, receive }: Terminal,
  { question, isHidden = false }: Prompt,
): Promise<string> {
  // Only here, because few commands ask. The editor of node:readline cannot delete with TERM=dumb.
  const { createInterface } = await import('node:readline/promises');
  interrupted.throwIfAborted();
  let isMuted = isHidden;
  const write = (text: Uint8Array, _: unknown, done: () => void) => {
    if (!isMuted) stderr.write(text);
    done();
  };
  const output = Object.assign(new Writable({ write }), { columns: stderr.columns });
  const prompt = isHidden ? '' : question;
  const editor = createInterface({ input: stdin, output, terminal: true, historySize: 0, prompt });
  const lines: string[] = [];
  editor.on('line', (line) => {
    lines.push(line);
    isMuted = true;
  });
  const ask = () => {
    if (isHidden) stderr.write(question);
    editor.prompt(true);
  };
  const onKey = (_: unknown, { sequence }: { readonly sequence?: string }) => {
    if (sequence === CTRL_BACKSLASH) receive('SIGQUIT');
  };
  stdin.on('keypress', onKey);
  editor.on('SIGINT', () => receive('SIGINT'));
  const endSuspension = handleSuspension(stdin, editor, { ask, leave: () => stderr.write('\n') });
  try {
    ask();
    await lineOrInterrupt(editor, interrupted);
    return lines[0] ?? '';
  } finally {
    endSuspension();
    stdin.off('keypress', onKey);
    const rest = [...lines.slice(1), editor.line].join('\r');
    editor.close(); // turns the echo on
    if (rest !== '' && lines.length > 0) stdin.unshift(Buffer.from(rest));
    if (isHidden || lines.length === 0) stderr.write('\n');
  }
}

const CTRL_BACKSLASH = '\u001c';

/** Resolves with the first line and at the end of the input. */
function lineOrInterrupt(editor: LineEditor, interrupted: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    editor.once('line', () => resolve());
    editor.once('close', resolve);
    interrupted.addEventListener('abort', () => reject(interrupted.reason), { once: true });
  });
}

type LineEditor = import('node:readline/promises').Interface;

/** Longest time in which the system stops the process, in milliseconds. It does not if no shell could continue it. */
const STOPPED_WITHIN_MS = 50;

/**
 * Ctrl-Z, SIGTSTP and SIGSTOP: the shell gets the terminal with its echo. The mode of the terminal can have changed when the
 * process continues, so the echo is turned off again before the question is repeated; what was typed before is dropped.
 */
function handleSuspension(
  stdin: NodeJS.ReadStream,
  editor: LineEditor,
  { ask, leave }: { readonly ask: () => void; readonly leave: () => void },
): () => void {
  let isSuspended = false;
  const suspend = async () => {
    isSuspended = true;
    leave();
    stdin.setRawMode(false);
    process.off('SIGTSTP', suspend);
    process.kill(process.pid, 'SIGTSTP');
    await sleep(STOPPED_WITHIN_MS);
    if (isSuspended) resume();
  };
  const resume = () => {
    isSuspended = false;
    process.off('SIGTSTP', suspend).on('SIGTSTP', suspend);
    editor.pause();
    stdin.setRawMode(false); // Node.js ignores a mode that it has set before
    stdin.setRawMode(true);
    editor.write(null, { ctrl: true, name: 'e' });
    editor.write(null, { ctrl: true, name: 'u' });
    ask();
  };
  editor.on('SIGTSTP', suspend);
  process.on('SIGTSTP', suspend).on('SIGCONT', resume);
  return () => {
    isSuspended = false;
    process.off('SIGTSTP', suspend).off('SIGCONT', resume);
  };
}
