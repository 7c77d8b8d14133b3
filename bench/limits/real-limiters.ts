import {
  hasNginx,
  REAL_LIMITERS,
  type RealRun,
  runInVirtualTime,
  runOnNginx,
} from '../../test/helpers/real-limiters.ts';
import { reportChanges } from '../recorded.ts';
import { table } from '../table.ts';

const CALLS = 75;
/** nginx reads the real time: its rate is so many times as high, and the client's clock so many times as fast. */
const SPEED = 10;
/** Two full windows after the first one; with nginx, a slot each 2 s after a burst of 11. */
const LEAST_SECONDS = { window: 120, nginx: 128 };

interface Row extends RealRun {
  readonly name: string;
  readonly leastSeconds: number;
}

/**
 * fxrates with its defaults behind rate limiters in wide use, 30 requests per minute: 75 calls at once. Those of npm run in
 * virtual time.
 */
export async function measureRealLimiters({
  isJson,
  isRecorded,
}: {
  readonly isJson: boolean;
  readonly isRecorded: boolean;
}) {
  const rows: Row[] = [];
  for (const [name, start] of Object.entries(REAL_LIMITERS)) {
    rows.push({ name, ...(await runInVirtualTime(start, CALLS)), leastSeconds: LEAST_SECONDS.window });
  }
  if (hasNginx) {
    const name = 'nginx, `rate=30r/m burst=10 nodelay`, no Retry-After';
    rows.push({ name, ...(await runOnNginx(CALLS, { speed: SPEED })), leastSeconds: LEAST_SECONDS.nginx });
  }
  process.stdout.write(`${isJson ? JSON.stringify(rows, undefined, 2) : asText(rows)}\n`);
  const figures = Object.fromEntries(
    rows.flatMap(({ name, failed, refused, seconds }) => [
      ...[[`${name}: failed`, failed] as const, [`${name}: refused`, refused] as const],
      [`${name}: seconds`, seconds] as const,
    ]),
  );
  reportChanges({ bench: 'real-limiters', node: process.version, figures, isRecorded });
}

function asText(rows: readonly Row[]): string {
  const cells = rows.map(({ name, failed, refused, seconds, leastSeconds }) => [
    ...[name, String(failed), String(refused)],
    ...[seconds.toFixed(0), String(leastSeconds)],
  ]);
  return table(['75 calls, 30 per minute', 'failed', '429s', 'seconds', 'least possible'], cells);
}
