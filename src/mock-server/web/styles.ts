import { readFileSync } from 'node:fs';

/** The styles of the dashboard and of the control panel. The build inserts the text of the files. */
export const BASE_STYLE = readStyle('./base.css');

export const DASHBOARD_STYLE = BASE_STYLE + readStyle('../dashboard/dashboard.css');

function readStyle(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}
