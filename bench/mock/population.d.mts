import type { MockServer } from '../../src/mock-server/index.ts';

export interface Population {
  readonly spaces: number;
  readonly keys: number;
  /** Entries that the mock keeps, and each space. */
  readonly journalSize: number;
}

/** Gives a mock spaces, and keys of 1000 requests a minute each; returns the keys. */
export function populate(mock: MockServer, population: Pick<Population, 'spaces' | 'keys'>): string[];
