import { stripVTControlCharacters } from 'node:util';
import type { Invocation } from '../command.ts';
import { compactJson } from '../json/pretty-json.ts';
import { csvText } from '../output/delimited-text.ts';
import { localClock } from '../output/format-text.ts';
import { selectedCsv } from '../output/print-json.ts';
import { formatDuration } from '../settings/duration.ts';
import { visible, wrap } from '../terminal/text.ts';

/** One answer, in the forms that it may be shown in. */
interface Shown {
  /** For a terminal, line ends and all. */
  readonly text: string;
  /** For programs. */
  readonly json: string;
  /** As the command prints it without `--watch`; with `--get`, `-o tsv` and `-o raw`. */
  readonly print: () => Promise<void>;
  /** Milliseconds to the next one, and why that many. */
  readonly interval: { readonly intervalMs: number; readonly reason: string };
  /** For people, beside the time. */
  readonly remark?: string | undefined;
}

/** A watch on the screen: a terminal shows the last answer in place, a pipe gets one JSON line for each. */
export class LiveView {
  readonly #invocation: Invocation;
  /** Rows of the last frame, which the next one goes over. */
  #rows = 0;
  #hasCsvHeader = false;

  constructor(invocation: Invocation) {
    this.#invocation = invocation;
  }

  /** The next frame leaves what is on the screen. */
  readonly keep = (): void => {
    this.#rows = 0;
  };

  async show(shown: Shown): Promise<void> {
    const { settings, screen, io } = this.#invocation;
    const { json, print } = shown;
    const fetchedAt = new Date(io.clock.now()).toISOString();
    if (settings.output === 'csv') return screen.print(this.#csv(json, fetchedAt));
    if (settings.output === 'tsv' || settings.output === 'raw' || settings.get.length > 0) return print();
    if (screen.isForPeople) return this.#showToPeople(shown);
    const line = `{"fetched_at":"${fetchedAt}","data":${compactJson(json)}}\n`;
    return screen.print(screen.out.isTTY ? visible(line) : line);
  }

  /** The lines of all answers are one document: its first column is the time of the answer. */
  #csv(json: string, fetchedAt: string): string {
    const { settings, screen } = this.#invocation;
    const { header, rows } = selectedCsv(json, settings.get);
    const lines = rows.map((row) => [fetchedAt, ...row]);
    const text = csvText(this.#hasCsvHeader ? lines : [['fetched_at', ...header], ...lines]);
    this.#hasCsvHeader = true;
    return `${screen.out.isTTY ? visible(text) : text}\n`;
  }

  #showToPeople({ text, interval, remark }: Shown): Promise<void> {
    const { screen, io } = this.#invocation;
    if (!screen.out.isTTY) return screen.printText(`${text.trimEnd()}\n\n`);
    const now = io.clock.now();
    const next = localClock(now + interval.intervalMs, io.timeZone);
    const every = `every ${formatDuration(interval.intervalMs)}, ${interval.reason}`;
    const status = `${localClock(now, io.timeZone)}${remark === undefined ? '' : ` · ${remark}`} · next ${next} (${every}) · Ctrl-C to stop`;
    const footer = wrap(status, screen.out.columns).map((line) => screen.out.palette.faint(line));
    return this.#draw(text.trimEnd().split('\n'), ['', ...footer]);
  }

  /** Over the last frame. What is higher than the terminal would scroll away from under the cursor, so it is cut. */
  #draw(body: readonly string[], footer: readonly string[]): Promise<void> {
    const { screen, io } = this.#invocation;
    const rowsOf = (line: string) =>
      Math.max(1, Math.ceil(stripVTControlCharacters(line).length / (io.stdout.columns || 80)));
    const room = (io.stdout.rows || Number.POSITIVE_INFINITY) - 1 - footer.length;
    const shown: string[] = [];
    let rows = 0;
    for (const line of body) {
      if (rows + rowsOf(line) > room) break;
      shown.push(line);
      rows += rowsOf(line);
    }
    const hidden = body.length - shown.length;
    const lines = [...shown, ...(hidden > 0 ? footer.with(0, `… ${hidden} more lines; a pipe gets them all`) : footer)];
    const over = this.#rows === 0 ? '' : `\u001b[${this.#rows}A\u001b[J`;
    this.#rows = rows + footer.length;
    return screen.printText(`${over}${lines.join('\n')}\n`);
  }
}
