import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { notShown } from '../../src/generated/service.ts';
import type { Switch } from '../../src/mock-server/behaviour/switch.ts';
import { SWITCH_GROUPS, SWITCH_NAMES, type SwitchName, switches } from '../../src/mock-server/behaviour/switches.ts';

interface SwitchEffect {
  readonly mock: Readonly<Record<string, string>>;
  readonly client: string;
}

const PAGE = join(import.meta.dirname, '../../docs/switches.md');
const EFFECTS = join(import.meta.dirname, '../../scripts/switch-effects.yaml');
const switchEffects: Readonly<Record<SwitchName, SwitchEffect>> = parse(readFileSync(EFFECTS, 'utf8'));
const meanings = new Map(commentsIn('switches.ts'));
const code = (value: unknown) => `\`${value === null ? 'null' : value}\``;

function valuesOf(name: SwitchName): readonly unknown[] {
  const { default: byDefault, alternatives }: Switch<unknown> = switches[name];
  return [byDefault, ...alternatives];
}

function sectionOf(name: SwitchName): string {
  const { default: byDefault, lenient, hostile, notShown: id, why } = switches[name];
  const { mock, client } = switchEffects[name];
  const rows = valuesOf(name).map((value) => {
    const isDefault = value === byDefault ? ' (default)' : '';
    return `| ${code(value)}${isDefault} | ${mock[String(value)]} |`;
  });
  return `### \`${name}\`

${meanings.get(name)?.text}

**Not documented:** ${notShown[id]}

| value | effect on the mock |
|---|---|
${rows.join('\n')}

- Effect on the client: ${client}
- Reason for the default: ${why}
- Presets: \`lenient\` ${code(lenient)}, \`hostile\` ${code(hostile)}.
`;
}

const groups = Object.entries(SWITCH_GROUPS).map(([title, group]) => {
  const sections = SWITCH_NAMES.filter((name) => Object.hasOwn(group, name)).map(sectionOf);
  return `## ${title}\n\n${sections.join('\n')}`;
});

const contents = Object.entries(SWITCH_GROUPS).map(([title, group]) => {
  const links = SWITCH_NAMES.filter((name) => Object.hasOwn(group, name)).map(
    (name) => `[\`${name}\`](#${name.toLowerCase()})`,
  );
  return `| ${title} | ${links.join(', ')} |`;
});

/** The start of the page, which is written by hand. */
const [introduction] = readFileSync(PAGE, 'utf8').split('| topic | switches |', 1);

const page = `${introduction}| topic | switches |
|---|---|
${contents.join('\n')}

${groups.join('\n')}`;

test('docs/switches.md describes every switch', async () => {
  await expect(page).toMatchFileSnapshot(PAGE);
});

test('the effects are those of the switches', () => {
  expect(Object.keys(switchEffects).sort()).toEqual([...SWITCH_NAMES].sort());
});

test.each(SWITCH_NAMES)('%s has an effect for each of its values, and for no other', (name) => {
  expect(switchEffects[name].client).toMatch(/\.$/);
  expect(Object.keys(switchEffects[name].mock).sort()).toEqual(valuesOf(name).map(String).sort());
});

test('every switch has a comment that states its default', () => {
  const stated = SWITCH_NAMES.map((name) => [name, meanings.get(name)?.byDefault]);
  const defaults = SWITCH_NAMES.map((name) => {
    const { default: value } = switches[name];
    return [name, typeof value === 'string' ? `'${value}'` : String(value)];
  });

  expect(stated).toEqual(defaults);
});

interface Comment {
  readonly text: string;
  readonly byDefault: string | undefined;
}

/** The comment above each property of the object literals in a file of switches. */
function commentsIn(file: string): readonly (readonly [name: string, comment: Comment])[] {
  const source = readFileSync(join(import.meta.dirname, '../../src/mock-server/behaviour', file), 'utf8');
  return Array.from(source.matchAll(/^ {2}\/\*\*[\s*]+(.*?)\s+\*\/\n {2}(\w+):/gms), ([, comment = '', name = '']) => {
    const [text = '', byDefault] = comment.replace(/\s*\n\s*\*\s*/g, ' ').split(/\s*Default: (?=.*\.$)/);
    return [name, { text, byDefault: byDefault?.replace(/\.$/, '') }];
  });
}
