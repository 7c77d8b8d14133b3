import { oneLine, visible } from '../../text.ts';
import type { Invocation } from '../settings/settings.ts';
import type { Palette, StreamStyle } from '../terminal/screen.ts';
import { besideHead, wrap } from '../terminal/text.ts';
import { printJson } from './print-json.ts';

/** A line of a report for people: `Used        742 of 1,000  [███░] 74.2 %`. */
export interface ReportRow {
  readonly label: string;
  readonly value: string;
  /** Already coloured; follows the value. */
  readonly remark?: string | undefined;
  readonly isWarning?: boolean;
  /** In a column of its own, before the label. */
  readonly status?: 'ok' | 'warn' | 'fail' | 'skip';
  /** Under the row, never broken into lines, because they are there to be copied. */
  readonly steps?: readonly string[];
}

interface PrintedReport {
  /** Called only if it is printed: formatting a time takes a tenth of a command. */
  readonly text: () => string;
  readonly json: string;
  /** Text in a pipe, too, where the log of a CI job is. Default: JSON in a pipe, as of other commands. */
  readonly isForLogs?: boolean;
}

/** Prints a report: as text, or as data from which --get selects values. */
export async function printReport(
  { text, json, isForLogs = false }: PrintedReport,
  invocation: Invocation,
): Promise<void> {
  const { settings, screen } = invocation;
  const isText = screen.isForPeople || (isForLogs && settings.output === 'auto');
  if (isText && settings.get.length === 0) await screen.printText(text());
  else await printJson(json, invocation);
}

export function reportText(rows: readonly ReportRow[], style: StreamStyle): string {
  return rows.map((row) => rowText(row, style)).join('');
}

const LABEL_WIDTH = 12;
const STATUS_WIDTH = 6;

function rowText(row: ReportRow, { columns, palette }: StreamStyle): string {
  const { value, remark, status, steps = [] } = row;
  const width = status === undefined ? LABEL_WIDTH : STATUS_WIDTH + LABEL_WIDTH + 1;
  const text = oneLine(value) + (remark === undefined ? '' : `  ${remark}`);
  const lines = [
    ...besideHead(
      headText(row, width, palette),
      wrap(text, columns - width).map((line) => line.trim()),
      width,
    ),
    ...steps.map((step) => ' '.repeat(STATUS_WIDTH) + visible(step)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function headText({ label, isWarning = false, status }: ReportRow, width: number, palette: Palette): string {
  const paintStatus = { ok: palette.good, warn: palette.warning, fail: palette.failure, skip: palette.faint };
  const mark = status === undefined ? '' : paintStatus[status](status.padEnd(STATUS_WIDTH));
  const name = visible(isWarning ? `! ${label}` : label).padEnd(width - (status === undefined ? 0 : STATUS_WIDTH));
  return mark + (isWarning ? palette.warning : palette.heading)(name);
}
