import type { StreamStyle } from '../terminal/screen.ts';
import { visible } from '../terminal/visible.ts';
import { wrap } from '../terminal/wrap.ts';
import type { Finding } from './finding.ts';

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
