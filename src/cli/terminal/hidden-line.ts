import { Interrupted } from '../io.ts';

const CONTROL = { interrupt: '\u0003', end: '\u0004', backspace: '\u0008', delete: '\u007f', killLine: '\u0015' };

/**
 * Reads a line without echo. In raw mode Ctrl-C is a character like any other, so it is seen here. The prompt comes
 * after the echo is off: a pasted key must not be faster than that.
 */
export async function readHiddenLine(
  stdin: NodeJS.ReadStream,
  maxLength: number,
  prompt: () => Promise<void>,
): Promise<string> {
  stdin.setRawMode(true);
  try {
    await prompt();
    let line = '';
    for await (const character of characters(stdin)) {
      if (character === CONTROL.interrupt) throw new Interrupted('SIGINT');
      if (character === '\r' || character === '\n' || character === CONTROL.end) break;
      line = edited(line, character);
      if (line.length > maxLength) break;
    }
    return line;
  } finally {
    stdin.setRawMode(false);
  }
}

async function* characters(stdin: NodeJS.ReadStream): AsyncGenerator<string> {
  for await (const chunk of stdin.setEncoding('utf8')) yield* String(chunk);
}

function edited(line: string, character: string): string {
  if (character === CONTROL.backspace || character === CONTROL.delete) return line.slice(0, -1);
  return character === CONTROL.killLine ? '' : line + character;
}
