import type { Io } from '../io.ts';

/** FXRATES_DEBUG: 2 is -vv, any other value but 0 and false is -v. */
export function debugLevel({ FXRATES_DEBUG: text = '' }: Io['env']): number {
  if (text === '' || text === '0' || text === 'false') return 0;
  return text === '2' ? 2 : 1;
}
