import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { Interrupted, type SignalName } from '../../../src/cli/io/io.ts';
import { readTypedLine } from '../../../src/cli/io/typed-line.ts';

/** A terminal that types `typed` after the question, and records whether the echo is off. */
function terminal(typed: string) {
  const modes: boolean[] = [];
  const stdin = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => void modes.push(isRaw) });
  let shown = '';
  const write = (text: string | Uint8Array) => {
    shown += String(text);
    if (typed !== '' && String(text).includes('Question')) queueMicrotask(() => stdin.write(typed));
    return true;
  };
  const interrupt = new AbortController();
  const receive = (name: SignalName) => interrupt.abort(new Interrupted(name));
  const stderr = { columns: 80, write };
  const read = ({ isHidden = true } = {}) =>
    readTypedLine({ stdin, stderr, receive, interrupted: interrupt.signal } as never, {
      question: 'Question: ',
      isHidden,
    });
  return { read, modes, stdin, interrupt, shown: () => shown };
}

test.each([
  ['the key\r', 'the key'],
  ['the key\n', 'the key'],
  ['wrong\u0015right\r', 'right'],
  ['keyz\u007f\r', 'key'],
  ['keyz\u0008\r', 'key'],
  ['\u007f\u007fkey\r', 'key'],
  ['kéy…\r', 'kéy…'],
  ['first\rsecond\r', 'first'],
  ['\u0004', ''],
])('%j is read as %j without an echo', async (typed, line) => {
  const { read, modes, shown } = terminal(typed);

  expect(await read()).toBe(line);
  expect(modes).toEqual([true, false]);
  expect(shown()).toBe('Question: \n');
});

test('a visible line is echoed; later input is kept for the next line and never shown', async () => {
  const { read, shown } = terminal('urx\u007fl\rthe key\r');

  expect(await read({ isHidden: false })).toBe('url');
  expect(shown()).toContain('ur');
  expect(await read()).toBe('the key');
  expect(shown()).not.toContain('key');
});

test('the end of the input ends the line', async () => {
  const { read, stdin } = terminal('');
  const line = read();
  stdin.end();

  expect(await line).toBe('');
});

test.each([
  ['Ctrl-C', '\u0003', 'SIGINT'],
  ['Ctrl-\\', '\u001c', 'SIGQUIT'],
])('%s interrupts, and turns the echo of the terminal on again', async (_, key, signalName) => {
  const { read, modes } = terminal(`half a k${key}`);

  await expect(read()).rejects.toMatchObject({ name: 'Interrupted', signalName });
  expect(modes).toEqual([true, false]);
});

test('a signal turns the echo of the terminal on again', async () => {
  const { read, modes, interrupt } = terminal('half a k');
  const line = read();
  setImmediate(() => interrupt.abort(new Interrupted('SIGTERM')));

  await expect(line).rejects.toMatchObject({ signalName: 'SIGTERM' });
  expect(modes.at(-1)).toBe(false);
});
