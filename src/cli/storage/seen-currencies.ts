import { lstatSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder, replaceFile } from '../../replace-file.ts';
import type { Env } from '../io.ts';
import { pathIn, stateFolder } from './folders.ts';

/** Limits the number of names, because the service could send any. */
const MOST_CURRENCIES = 500;
const CURRENCY = /^[A-Z]{3}$/;

/** The currencies in earlier responses, for completion. */
export function seenCurrencies(env: Env): readonly string[] {
  const path = pathIn(stateFolder(env), 'currencies');
  try {
    // Reading a pipe would block, and a link may lead to a file that is not part of fxrates.
    return path === undefined || !lstatSync(path).isFile()
      ? []
      : readFileSync(path, 'utf8')
          .split(/\s+/)
          .filter((code) => CURRENCY.test(code));
  } catch {
    return []; // nothing seen yet, or unreadable
  }
}

/** Adds the currencies of a response. A failure to write them is ignored. */
export async function rememberCurrencies(json: string, env: Env): Promise<void> {
  const path = pathIn(stateFolder(env), 'currencies');
  const seen = seenCurrencies(env);
  const all = new Set([...seen, ...currenciesIn(json)]);
  if (path === undefined || all.size === seen.length) return;
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) return;
    await makeFolder(dirname(path), 0o700);
    const text = `${[...all].toSorted().slice(0, MOST_CURRENCIES).join('\n')}\n`;
    await replaceFile(path, text, { isPrivate: true, isDisposable: true });
  } catch {
    // Completion then offers none.
  }
}

/** Names and texts of three capital letters: the service documents no fields. */
function currenciesIn(json: string): readonly string[] {
  return Array.from(json.matchAll(/"([A-Z]{3})"/g), ([, code = '']) => code);
}
