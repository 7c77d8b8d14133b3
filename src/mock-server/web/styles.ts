import { readFileSync } from 'node:fs';

/** The style of the control panel. The build inserts the text of the file. */
export const BASE_STYLE = readStyle('./base.css');

function readStyle(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}
