/**
 * Part of `npm run check`: checks the English of the documents and of the help texts. Exits with 1 if a rule of
 * `scripts/prose.ts` reports a problem.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CliCommand } from '../src/cli/parser/command.ts';
import { createProgram } from '../src/cli/program/program.ts';
import { checkProse, markdownPassages } from './prose.ts';

const root = join(import.meta.dirname, '..');
const findings = [...documents().flatMap(documentFindings), ...helpFindings()];
for (const finding of findings) process.stdout.write(`${finding}\n`);
if (findings.length > 0) process.exitCode = 1;

function documents(): readonly string[] {
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
  return ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pages.map((name) => `docs/${name}`)];
}

function documentFindings(name: string): readonly string[] {
  return markdownPassages(readFileSync(join(root, name), 'utf8')).flatMap(({ text, line }) =>
    checkProse(text).map(({ index, message }) => {
      const lineOfFinding = line + (text.slice(0, index).match(/\n/g)?.length ?? 0);
      return `${name}:${lineOfFinding} ${message}`;
    }),
  );
}

function helpFindings(): readonly string[] {
  const ofCommands = createProgram()
    .all()
    .flatMap((command) => textsOf(command).map((text) => [`${command.fullName} --help`, text] as const));
  return ofCommands.flatMap(([page, text]) =>
    checkProse(text).map(({ message }) => `${page}: ${message}, in: ${text}`),
  );
}

function textsOf(command: CliCommand): readonly string[] {
  const described = [...command.registeredArguments, ...command.options];
  const texts = [command.summary(), command.description(), ...described.map(({ description }) => description)];
  const entries = command.parameters.map(({ text }) => text);
  return [...texts, ...entries, ...command.examples.map(({ comment }) => comment), ...command.notes];
}
