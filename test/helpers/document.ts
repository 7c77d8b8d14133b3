import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Document {
  readonly name: string;
  /** Whole programs in TypeScript. Those in blocks `ts example` begin with the block `ts setup`. */
  readonly snippets: readonly string[];
  /** Lines of the form `fxrates …`. */
  readonly commands: readonly string[];
  /** The shell function of the block `sh function`, and the calls of it in the blocks `sh example`. */
  readonly http: readonly string[];
  /** Blocks in any language whose first line is a comment with a file name. */
  readonly files: readonly DocumentFile[];
}

export interface DocumentFile {
  readonly name: string;
  readonly code: string;
}

/** The examples of a Markdown page, except blocks marked `ts no-run` or `sh no-run`. */
export function readDocument(root: string, name: string): Document {
  const text = readFileSync(join(root, name), 'utf8');
  const blocks = Array.from(text.matchAll(/^```(ts|js|python|go|sh)\n(.*?)^```$/gms), ([, language, code = '']) => ({
    language,
    code,
    file: /^(?:\/\/|#) ([\w-]+(?:\.[\w-]+)+)\n/.exec(code)?.[1],
  }));
  const blockOf = (kind: string) =>
    Array.from(text.matchAll(new RegExp(`^\`\`\`${kind}\\n(.*?)^\`\`\`$`, 'gms')), ([, code = '']) => code);
  const [setup = ''] = blockOf('ts setup');
  const nameless = blocks.filter(({ file }) => file === undefined);
  return {
    name,
    snippets: [
      ...nameless.filter(({ language }) => language === 'ts').map(({ code }) => code),
      ...blockOf('ts example').map((code) => setup + code),
    ],
    http: [...blockOf('sh function'), ...blockOf('sh example').join('').split('\n')].filter((line) => line !== ''),
    commands: nameless.filter(({ language }) => language === 'sh').flatMap(({ code }) => commandsOf(code)),
    files: blocks.flatMap(({ file, code }) => (file === undefined ? [] : { name: file, code })),
  };
}

/** The commands that end without a signal, with placeholders for a reader's own project replaced. */
function commandsOf(code: string): string[] {
  return code
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line.startsWith('fxrates') && !line.endsWith('&'))
    .map((line) => line.replace(/-- (npm test|pytest)$/, '-- sh -c "test -n \\"$FXRATES_API_KEY\\""'));
}
