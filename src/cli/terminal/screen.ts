import { createRequire } from 'node:module';
import type { ChalkInstance, ForegroundColorName } from 'chalk';
import { Redactor } from '../../redactor.ts';
import { visible } from '../../text.ts';
import type { Env, Io, Output } from '../io/io.ts';
import { clip, jsonLine, wrap } from './text.ts';

export type ColorWhen = 'auto' | 'always' | 'never';

/** The settings that shape messages. */
export interface MessageSettings {
  readonly output: string;
  readonly color: ColorWhen;
  readonly quiet: number;
  readonly verbose: number;
}

/** The styles of the two output streams, and the only way to write to them: each text is redacted first. */
export class Screen {
  readonly out: StreamStyle;
  readonly err: StreamStyle;
  readonly secrets: Redactor;
  readonly showsStacks: boolean;
  /** Whether stderr can show a line that changes: on a terminal that can erase text, unless `-v` writes lines between. */
  readonly showsStatus: boolean;
  /** Whether the output format is JSON, for stderr too. */
  readonly isJson: boolean;
  /** Whether stdout gets text for people: on a terminal, and with `-o table`. A pipe gets JSON. */
  readonly isForPeople: boolean;
  readonly #io: Pick<Io, 'stdout' | 'stderr'>;
  readonly #quiet: number;
  readonly #warnings = new Set<string>();
  readonly #isUnicode: boolean;
  #hasStatus = false;

  constructor(
    io: Pick<Io, 'stdout' | 'stderr' | 'env'>,
    { color: when, quiet, output, verbose }: MessageSettings,
    secrets = new Redactor(),
  ) {
    this.#io = io;
    this.secrets = secrets;
    this.#quiet = quiet;
    this.isJson = output === 'json';
    this.showsStacks = verbose > 1;
    this.isForPeople = output === 'table' || (output === 'auto' && io.stdout.isTTY);
    this.#isUnicode = hasUnicode(io.env);
    const styleOf = (stream: Output): StreamStyle => {
      const { isTTY } = stream;
      const palette = createPalette(usesColor({ when, env: io.env, isTTY }));
      return {
        isTTY,
        indentsJson: isTTY || when === 'always',
        get columns() {
          return Math.min(100, Math.max(20, this.width));
        },
        get width() {
          return stream.columns || 80; // some pseudo-terminals report 0
        },
        palette,
      };
    };
    this.out = styleOf(io.stdout);
    this.err = styleOf(io.stderr);
    this.showsStatus = io.stderr.isTTY && io.env['TERM'] !== 'dumb' && !this.isJson && quiet === 0 && verbose === 0;
  }

  /** Data, to stdout, as it is but for the key. */
  async print(chunk: string | Uint8Array): Promise<void> {
    if (this.out.isTTY) await this.status('');
    await this.#io.stdout.write(
      typeof chunk === 'string' ? this.secrets.redact(chunk) : this.secrets.redactBytes(chunk),
    );
  }

  /** Data of the service by lines, to stdout: control characters do not reach a terminal. */
  printLines(lines: string): Promise<void> {
    return this.print(this.out.isTTY ? visible(lines) : lines);
  }

  /** Prints a full key: that of the mock server after its creation, and that of `auth token`. */
  printWithSecret(text: string): Promise<void> {
    return this.#io.stdout.write(text);
  }

  /** Text for people, to stdout. */
  printText(text: string): Promise<void> {
    return this.print(this.secrets.redactMessage(this.#plain(text)));
  }

  /** A remark for people, to stderr; `-q` drops it. */
  info(text: string): Promise<void> {
    return this.infoWithSecret(this.secrets.redactMessage(text));
  }

  /** A remark with a key in full, the mock server's own. */
  infoWithSecret(text: string): Promise<void> {
    if (this.#quiet > 0) return Promise.resolve();
    return this.#toStderr(text);
  }

  /** What happens, to stderr: a line for people, a line of JSON for programs. */
  report(text: string, event: { readonly event: string; readonly [name: string]: unknown }): Promise<void> {
    return this.info(this.isJson ? jsonLine(event) : `fxrates: ${text}\n`);
  }

  /** The remark of a command about what it does or did. */
  remark(message: string): Promise<void> {
    return this.report(message, { event: 'info', message });
  }

  /** Each text is printed once. */
  warn(message: string): Promise<void> {
    if (this.#warnings.has(message)) return Promise.resolve();
    this.#warnings.add(message);
    return this.report(visible(message), { event: 'warning', message });
  }

  /**
   * Shows a line on stderr that the next text there, or on the same terminal, replaces. An empty one erases it. It is cut at
   * the width of the terminal, because only the last row of a longer one could be erased.
   */
  status(line: string): Promise<void> {
    const isChange = line !== '' || this.#hasStatus;
    this.#hasStatus = false;
    const shown = isChange ? this.info(`${ERASE_LINE}${clip(line, this.err.width - 1)}`) : Promise.resolve();
    this.#hasStatus = line !== '';
    return shown;
  }

  /** A failure, to stderr; `-qq` drops it. */
  error(text: string): Promise<void> {
    return this.#quiet > 1 ? Promise.resolve() : this.#toStderr(this.secrets.redactMessage(text));
  }

  /**
   * Broken at words on a terminal, except for an indented line, which is to be copied. A failure to write is ignored: there
   * is no other stream to report it to.
   */
  #toStderr(text: string): Promise<void> {
    const erased = this.#hasStatus ? ERASE_LINE : '';
    this.#hasStatus = false;
    const broken = (line: string) => (/^[ \r]/.test(line) ? line : wrap(line, this.err.columns).join('\n'));
    const lines = this.err.isTTY && !this.isJson ? text.split('\n').map(broken) : [text];
    return this.#io.stderr.write(erased + this.#plain(lines.join('\n'))).catch(() => undefined);
  }

  #plain(text: string): string {
    return this.#isUnicode || this.isJson ? text : text.replace(/[—…·█░]/g, (character) => ASCII[character] ?? '?');
  }
}

/** Erases the line that the cursor is in. */
const ERASE_LINE = '\r\u001b[2K';

const ASCII: Readonly<Record<string, string>> = { '—': '-', '…': '...', '·': '-', '█': '#', '░': '-' };

/** The capabilities of one stream. */
export interface StreamStyle {
  readonly isTTY: boolean;
  /** Whether JSON is indented, in colours: for a program in a pipe it must not, unless the option `--color always` asks for it. */
  readonly indentsJson: boolean;
  /** Width for text, from 20 to 100. */
  readonly columns: number;
  /** Of the terminal as it is now: it can be resized during a batch. */
  readonly width: number;
  readonly palette: Palette;
}

function hasUnicode({ LC_ALL, LC_CTYPE, LANG, WT_SESSION }: Env): boolean {
  return WT_SESSION !== undefined || /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}

interface ColorQuestion {
  readonly when: ColorWhen;
  readonly env: Env;
  readonly isTTY: boolean;
}

/** Whether text has colours. The first rule that applies decides; NO_COLOR beats FORCE_COLOR, as in npm and commander. */
export function usesColor({ when, env, isTTY }: ColorQuestion): boolean {
  if (when !== 'auto') return when === 'always';
  const { NO_COLOR, FORCE_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM } = env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  if (CLICOLOR_FORCE && CLICOLOR_FORCE !== '0') return true;
  return isTTY && CLICOLOR !== '0' && TERM !== 'dumb';
}

/** Styles by the meaning of the text. They use 16 colours, which every terminal theme defines. */
export type Palette = Readonly<ReturnType<typeof createPalette>>;

export function createPalette(hasColor: boolean) {
  const chalk = hasColor ? loadChalk() : undefined;
  const style = (name: ForegroundColorName | 'bold' | 'dim') => chalk?.[name] ?? ((text: string) => text);
  return {
    heading: style('bold'),
    faint: style('dim'),
    good: style('green'),
    warning: style('yellow'),
    failure: style('red'),
    command: style('cyan'),
    name: style('blue'),
    string: style('green'),
  };
}

/**
 * Loaded when the first text has a colour, because loading it takes a third of the time of `--help`. Node.js 22.0 to 22.11
 * cannot `require` it; the output has no colour there.
 */
function loadChalk(): ChalkInstance | undefined {
  try {
    const { Chalk } = createRequire(import.meta.url)('chalk') as typeof import('chalk');
    return new Chalk({ level: 1 });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_REQUIRE_ESM') return undefined;
    throw error;
  }
}
