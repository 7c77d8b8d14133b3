import type { MockServer } from '../../src/mock-server/index.ts';

export interface Population {
  readonly spaces: number;
  readonly keys: number;
  /** Journal entries that the mock keeps, and that each space keeps. */
  readonly journalSize: number;
}

/** Adds spaces to a mock, and keys of 1000 requests per minute each; returns the keys. */
export function populate(mock: MockServer, population: Pick<Population, 'spaces' | 'keys'>): string[];
