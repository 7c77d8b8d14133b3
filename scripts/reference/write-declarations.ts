import type { DocComment } from './doc-comment.ts';
import type { Declaration, Member } from './read-declarations.ts';

/** One section of a page: a heading, a sentence, and declarations of the entry point. */
export interface Section {
  readonly title: string;
  readonly text?: string;
  /** Declarations whose members get a heading each, by name. */
  readonly members?: readonly (readonly [name: string, prefix: string])[];
  /** Declarations that are shown as a whole, by name: a signature, or a list of fields. */
  readonly whole?: readonly string[];
}

type Declarations = ReadonlyMap<string, Declaration>;

/** Writes the sections, `more`, and every declaration that no section contains. */
export function writeDeclarations(
  declarations: Declarations,
  sections: readonly Section[],
  more: readonly string[] = [],
): string {
  const named = new Set(
    sections.flatMap(({ members = [], whole = [] }) => [...members.map(([name]) => name), ...whole]),
  );
  const others = Array.from(declarations.keys()).filter((name) => !named.has(name));
  const rest = others.length === 0 ? [] : [{ title: 'Other types', whole: others.sort() }];
  const write = (section: Section) => writeSection(section, declarations);
  return blocks([...sections.map(write), ...more, ...rest.map(write)]);
}

/** Joins blocks of Markdown with an empty line. */
export function blocks(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

function writeSection({ title, text = '', members = [], whole = [] }: Section, declarations: Declarations): string {
  const get = (name: string) => {
    const declaration = declarations.get(name);
    if (declaration === undefined) throw new Error(`the reference names ${name}, which is not exported`);
    return declaration;
  };
  const [[first] = []] = members;
  return blocks([
    first === undefined ? `## ${title}` : `## ${title} {#${first}}`,
    text,
    ...members.map(([name, prefix]) => writeMembers(get(name), prefix, declarations)),
    ...whole.map((name) => writeWhole(get(name), declarations)),
  ]);
}

/** The description of a declaration, then a heading for each member. */
function writeMembers({ name, doc, bases, members }: Declaration, prefix: string, declarations: Declarations): string {
  const isOptions = /Options$|^AppInfo$/.test(name);
  return blocks([
    ...doc.paragraphs,
    ...notesOf(doc),
    basesText(bases, declarations),
    ...members.map((member) => {
      const owner = member.isStatic ? `${name}.` : prefix;
      const call = member.signatures.length === 0 ? '' : '()';
      const title = `${owner}${member.name}${call}`.replace('.[', '[');
      return blocks([`### \`${title}\``, ...member.doc.paragraphs, ...factsOf(member, { isOptions, declarations })]);
    }),
  ]);
}

function factsOf(
  member: Member,
  { isOptions, declarations }: { isOptions: boolean; declarations: Declarations },
): string[] {
  const { signatures, type, isOptional, doc } = member;
  const facts = [
    ...(signatures.length === 0 && type !== '' ? [`- Type: ${code(type)}${linksOf(type, declarations)}`] : []),
    ...(doc.byDefault === undefined ? [] : [`- Default: ${doc.byDefault}`]),
    ...(isOptions && !isOptional ? ['- Required'] : []),
    ...doc.notes.map((note) => `- ${note}`),
  ];
  return [fence(signatures.join('\n')), facts.join('\n'), ...doc.examples.map(fence)];
}

/** A function or a type as source; an interface or a class as a list of its members. */
function writeWhole({ name, kind, doc, bases, members, signatures }: Declaration, declarations: Declarations): string {
  const call = kind === 'function' ? '()' : '';
  return blocks([
    `### \`${name}${call}\` {#${name}}`,
    ...doc.paragraphs,
    ...(doc.byDefault === undefined ? [] : [`Default: ${doc.byDefault}.`]),
    ...notesOf(doc),
    fence(signatures.join('\n')),
    basesText(bases, declarations),
    members.map((member) => listItem(member, declarations)).join('\n'),
    ...doc.examples.map(fence),
  ]);
}

function listItem({ name, signatures, type, isOptional, isStatic, doc }: Member, declarations: Declarations): string {
  const shown =
    signatures.length === 0 ? `${name}${isOptional ? '?' : ''}: ${type}` : signatures[0]?.replaceAll(/\s*\n\s*/g, ' ');
  const byDefault = doc.byDefault === undefined ? '' : `Default: ${doc.byDefault}.`;
  const text = [...doc.paragraphs, byDefault, ...doc.notes].filter((part) => part !== '').join(' ');
  const link = linksOf(type, declarations);
  return `- ${code(`${isStatic ? 'static ' : ''}${shown}`)}${link}${text === '' ? '' : `: ${text}`}`;
}

function notesOf({ notes }: DocComment): string[] {
  return notes.length === 0 ? [] : [notes.map((note) => `- ${note}`).join('\n')];
}

function basesText(bases: readonly string[], declarations: Declarations): string {
  const shown = bases.filter((base) => !base.includes('typeof ')); // made from a schema, which has its own section
  const linked = shown.map((base) => `${code(base)}${linksOf(base, declarations)}`);
  return linked.length === 0 ? '' : `Extends ${linked.join(', ')}.`;
}

/** Links to the types of the page that a type mentions. */
function linksOf(type: string, declarations: Declarations): string {
  const names = new Set(type.match(/\b[A-Z]\w+/g)?.filter((name) => declarations.has(name)) ?? []);
  const links = Array.from(names, (name) => `[${name}](#{${name}})`);
  return links.length === 0 ? '' : ` (see ${links.join(', ')})`;
}

/**
 * Adds the anchors of GitHub: `(#{Name})` links to the heading that ends in `{#Name}`. If a heading has the same text
 * as an earlier one, its anchor ends with a number.
 */
export function resolveLinks(page: string): string {
  const anchors = new Map<string, string>();
  const counts = new Map<string, number>();
  const clean = page.replaceAll(
    /^(#+ )(.+?)(?: \{#(\w+)\})?$/gm,
    (_, marks: string, heading: string, name?: string) => {
      const anchor = anchorOf(heading);
      const count = counts.get(anchor) ?? 0;
      counts.set(anchor, count + 1);
      if (name !== undefined) anchors.set(name, count === 0 ? anchor : `${anchor}-${count}`);
      return `${marks}${heading}`;
    },
  );
  return clean.replaceAll(/\(#\{(\w+)\}\)/g, (_, name: string) => `(#${anchors.get(name) ?? ''})`);
}

export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

function fence(text: string): string {
  return text === '' ? '' : `\`\`\`ts\n${text}\n\`\`\``;
}
