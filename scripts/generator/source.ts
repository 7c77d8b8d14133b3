/** Writes a JSON value as a TypeScript literal. */
export function literal(value: unknown): string {
  if (value === undefined) return 'undefined';
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, field]) => `${propertyKey(name)}: ${literal(field)}`);
    return `{ ${fields.join(', ')} }`;
  }
  return Object.is(value, -0) ? '-0' : JSON.stringify(value);
}

/** Writes a field name for an object literal or an interface. */
export function propertyKey(name: string): string {
  if (name === '__proto__') return "['__proto__']"; // Without brackets, it would set the prototype.
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** A JSDoc comment with its line break, or an empty text; a blank line in `text` starts a paragraph. */
export function jsdoc(text: string | undefined): string {
  if (!text?.trim()) return '';
  const paragraphs = text
    .replaceAll('*/', '*\\/')
    .trim()
    .split(/\n\s*\n/);
  const lines = paragraphs.flatMap((paragraph, index) => [
    ...(index > 0 ? [''] : []),
    ...paragraph.split('\n').flatMap(wrap),
  ]);
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

function wrap(paragraph: string): string[] {
  const lines: string[] = [];
  for (const word of paragraph.trim().split(/\s+/)) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < 110) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
