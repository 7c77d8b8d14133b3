import * as z from 'zod';
import type { JournalEntry } from '../journal.ts';

/** Which requests; from a query, where numbers are text, or from JSON. */
export const journalFilter = z.strictObject({
  keyId: z.string().optional(),
  method: z.string().optional(),
  path: z.string().optional(),
  status: z.coerce.number().int().optional(),
  code: z.string().optional().describe('`error.code` of the answer.'),
  after: z.coerce.number().int().min(0).optional().describe('Only entries with a larger number.'),
});

export type JournalFilter = z.infer<typeof journalFilter>;

export function matches(entry: JournalEntry, { after = 0, ...fields }: JournalFilter): boolean {
  if (entry.number <= after) return false;
  return FIELDS.every((name) => fields[name] === undefined || entry[name] === fields[name]);
}

const FIELDS = ['keyId', 'method', 'path', 'status', 'code'] as const;
