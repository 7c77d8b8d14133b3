import type { Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
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
  editor.on('SIGTSTP', () => undefined); // Ctrl-Z does nothing
  const onContinue = () => {
    // The mode of the terminal can have changed while the process was stopped. Node.js ignores a mode that it has set before.
    stdin.setRawMode(false).setRawMode(true);
    editor.write(null, { ctrl: true, name: 'e' });
    editor.write(null, { ctrl: true, name: 'u' });
    ask();
  };
  process.on('SIGCONT', onContinue);
  try {
    ask();
    await lineOrInterrupt(editor, interrupted);
    return lines[0] ?? '';
  } finally {
    process.off('SIGCONT', onContinue);
    stdin.off('keypress', onKey);
    const rest = [...lines.slice(1), editor.line].join('\r');
    editor.close(); // turns the echo on
    if (rest !== '' && lines.length > 0) stdin.unshift(Buffer.from(rest));
    if (isHidden || lines.length === 0) stderr.write('\n');
  }
}

const CTRL_BACKSLASH = '\u001c';

/** Resolves with the first line and at the end of the input. */
function lineOrInterrupt(editor: Interface, interrupted: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    editor.once('line', () => resolve());
    editor.once('close', resolve);
    interrupted.addEventListener('abort', () => reject(interrupted.reason), { once: true });
  });
}
