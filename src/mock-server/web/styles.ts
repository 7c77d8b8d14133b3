import { readFileSync } from 'node:fs';

/** Colours and controls that the dashboard and the control panel share. The build puts the text of the files in here. */
export const BASE_STYLE = readStyle('./base.css');

export const DASHBOARD_STYLE = BASE_STYLE + readStyle('../dashboard/dashboard.css');

function readStyle(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}
