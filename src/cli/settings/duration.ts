import { usageError } from '../errors/cli-error.ts';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

/** Milliseconds of `500ms`, `30s`, `1.5m`, `2h`, `0` or `inf`. `label` is the source of the text. */
export function parseDuration(text: string, label: string): number {
  if (text === 'inf') return Number.POSITIVE_INFINITY;
  if (text === '0') return 0;
  const [, amount, unit] = DURATION.exec(text) ?? [];
  const unitMs = UNIT_MS[unit ?? ''];
  if (amount === undefined || unitMs === undefined) {
    throw usageError(`${label} expects a duration, got '${text}'`, 'write a number and its unit: 500ms, 30s, 2m, 1h');
  }
  return Math.round(Number(amount) * unitMs);
}

/** A duration as text: `12 s`, `1 min 35 s`, `10 days 9 h`. Rounded up, because a retry must not be too early. */
export function formatDuration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return pair(seconds, 60, 'min', 's');
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 24 * 60) return pair(minutes, 60, 'h', 'min');
  return pair(Math.ceil(minutes / 60), 24, 'days', 'h');
}

/** The value of an option, exactly: `300ms`, `95s`, `2m`. */
export function durationOption(ms: number): string {
  if (ms % 1000 !== 0) return `${ms}ms`;
  const seconds = ms / 1000;
  return seconds < 120 || seconds % 60 !== 0 ? `${seconds}s` : `${seconds / 60}m`;
}

/** The value of an option for a wait of this length or a little longer: whole seconds, or minutes from 2 on. */
export function durationOptionAbove(ms: number): string {
  const stepMs = ms <= 119_000 ? 1000 : 60_000;
  return durationOption(Math.ceil(ms / stepMs) * stepMs);
}

function pair(count: number, size: number, large: string, small: string): string {
  const whole = Math.floor(count / size);
  const rest = count % size;
  const unit = whole === 1 && large === 'days' ? 'day' : large;
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${small}`;
}
