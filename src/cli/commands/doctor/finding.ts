import type { CliError } from '../../errors/cli-error.ts';
import type { StreamStyle } from '../../terminal/screen.ts';
import { visible, wrap } from '../../terminal/text.ts';

/** What one check found. */
export interface Finding {
  readonly name: string;
  /** `skip`: there was nothing to check, or what it needs failed before. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  readonly text: string;
  /** What to do about it. */
  readonly next?: readonly string[];
}

export function failed(name: string, { message, hints }: Pick<CliError, 'message' | 'hints'>): Finding {
  return { name, status: 'fail', text: message, next: hints };
}

const STATUS_WIDTH = 6;
const NAME_WIDTH = 13;

/** One paragraph per finding: `fail  connection   refused`, and under it what to do. */
export function findingsText(findings: readonly Finding[], style: StreamStyle): string {
  return findings.map((finding) => findingText(finding, style)).join('');
}

function findingText({ name, status, text, next = [] }: Finding, { columns, palette }: StreamStyle): string {
  const paint = { ok: palette.good, warn: palette.warning, fail: palette.failure, skip: palette.faint }[status];
  const indent = ' '.repeat(STATUS_WIDTH);
  const head = `${paint(status.padEnd(STATUS_WIDTH))}${palette.heading(name.padEnd(NAME_WIDTH))}`;
  const [first = '', ...rest] = wrap(visible(text), columns - STATUS_WIDTH - NAME_WIDTH);
  const continued = rest.map((line) => `${indent}${' '.repeat(NAME_WIDTH)}${line}`);
  // A next step is there to be copied, so it is not broken into lines.
  const steps = next.map((step) => `${indent}${visible(step)}`);
  return `${[head + first, ...continued, ...steps].join('\n')}\n`;
}
