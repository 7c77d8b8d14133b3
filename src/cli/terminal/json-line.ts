import { visible } from './visible.ts';

/** A value as a line of JSON. What a terminal could act on is escaped, which to a program is the same text. */
export function jsonLine(value: unknown): string {
  return `${visible(JSON.stringify(value))}\n`;
}
