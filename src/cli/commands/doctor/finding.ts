import type { CliError } from '../../errors/cli-error.ts';
import type { ReportRow } from '../../output/report.ts';

/** What one check found. */
export interface Finding {
  readonly name: string;
  /** `skip`: there was nothing to check, or what it needs failed before. */
  readonly status: NonNullable<ReportRow['status']>;
  readonly text: string;
  /** What to do about it. */
  readonly next?: readonly string[];
}

export function failed(name: string, { message, hints }: Pick<CliError, 'message' | 'hints'>): Finding {
  return { name, status: 'fail', text: message, next: hints };
}
