import { expect, test } from 'vitest';
import { type ApiKey, KeySource } from '../../../src/client/key/api-key.ts';
import { Cancellation } from '../../../src/client/time/abort.ts';
import { quiet } from '../../helpers/fake-clock.ts';

const OLD = `fx_live_${'0'.repeat(48)}`;
const NEW = `fx_live_${'1'.repeat(48)}`;

const signal = new Cancellation();

/** A source whose provider returns `secrets` in order, then always the last one. */
function provided(...secrets: (string | Error | Promise<string>)[]) {
  const asked: number[] = [];
  const heard: string[] = [];
  const source = new KeySource(
    () => {
      asked.push(asked.length);
      const secret = secrets.length > 1 ? secrets.shift()! : secrets[0]!;
      if (secret instanceof Error) throw secret;
      return secret;
    },
    (key) => heard.push(key.reveal()),
  );
  return { source, asked, heard };
}

test('a fixed key is known at once and has no replacement', async () => {
  const heard: ApiKey[] = [];
  const source = new KeySource(OLD, (key) => heard.push(key));

  const key = await source.current(signal);

  expect(key.reveal()).toBe(OLD);
  expect(source.known()).toBe(key);
  expect(heard).toEqual([key]);
  await expect(source.replacementFor(key, signal)).resolves.toBeUndefined();
});

test('a provider is not called before the first call, and then once', async () => {
  const { source, asked } = provided(OLD);
  expect(source.known()).toBeUndefined();
  expect(asked).toEqual([]);

  const first = await source.current(signal);
  const second = await source.current(signal);

  expect(second).toBe(first);
  expect(source.known()).toBe(first);
  expect(asked).toHaveLength(1);
});

test('simultaneous calls call the provider once', async () => {
  const { source, asked } = provided(OLD);

  const keys = await Promise.all(Array.from({ length: 100 }, () => source.current(signal)));

  expect(new Set(keys).size).toBe(1);
  expect(asked).toHaveLength(1);
});

test('a refused key is replaced by the new key of the provider', async () => {
  const { source, heard } = provided(OLD, NEW);
  const refused = await source.current(signal);

  const replacement = await source.replacementFor(refused, signal);

  expect(replacement?.reveal()).toBe(NEW);
  expect(source.known()).toBe(replacement);
  expect(heard).toEqual([OLD, NEW]);
});

test('a hundred calls refused together call the provider once', async () => {
  const { source, asked } = provided(OLD, NEW);
  const refused = await source.current(signal);

  const replacements = await Promise.all(Array.from({ length: 100 }, () => source.replacementFor(refused, signal)));

  expect(new Set(replacements.map((key) => key?.reveal()))).toEqual(new Set([NEW]));
  expect(asked).toHaveLength(2);
});

test('a call refused late with the old key receives the new key without another call of the provider', async () => {
  const { source, asked } = provided(OLD, NEW, OLD);
  const refused = await source.current(signal);
  await source.replacementFor(refused, signal);

  const replacement = await source.replacementFor(refused, signal);

  expect(replacement?.reveal()).toBe(NEW);
  expect(asked).toHaveLength(2);
});

test('there is no replacement if the provider returns the refused key', async () => {
  const { source, heard } = provided(OLD);
  const refused = await source.current(signal);

  await expect(source.replacementFor(refused, signal)).resolves.toBeUndefined();
  expect(heard).toEqual([OLD]);
});

test('a provider that fails is called again by the next call', async () => {
  const { source } = provided(new Error('vault is sealed'), OLD);

  await expect(source.current(signal)).rejects.toThrow('vault is sealed');

  await expect(source.current(signal)).resolves.toMatchObject({ masked: 'fx_live_…0000' });
});

test('an invalid key of a provider is rejected without showing it', async () => {
  const { source } = provided(`Bearer ${OLD}`);

  await expect(source.current(signal)).rejects.toMatchObject({ kind: 'config' });
  await expect(source.current(signal)).rejects.not.toThrow(OLD);
});

test('a key that arrives after all callers have aborted does not replace a newer key', async () => {
  const late: ((secret: string) => void)[] = [];
  const { source } = provided(new Promise<string>((resolve) => late.push(resolve)), NEW);
  const impatient = new Cancellation();
  const left = source.current(impatient) as Promise<ApiKey>;
  impatient.cancel(new Error('enough'));
  await expect(left).rejects.toThrow('enough');

  const key = await source.current(signal);
  late[0]?.(OLD);
  await quiet();

  expect(key.reveal()).toBe(NEW);
  expect(source.known()).toBe(key);
});
