/** Commands of the command line that are not operations, and the page `help options`. */
const COMMANDS = [...['api', 'auth', 'batch', 'completion', 'config', 'doctor', 'help', 'mock', 'options', 'probe']];

/** Members of the client that are not operations. A `then` would make the client a promise. */
const CLIENT_MEMBERS = [
  ...['batch', 'close', 'get', 'limits', 'poll', 'quotaEstimate', 'request', 'then', 'toJSON', 'withOptions'],
];

/** Names that every object inherits: zod and `in` find them in objects that do not have them. */
export const INHERITED_NAMES: readonly string[] = Object.getOwnPropertyNames(Object.prototype);

/** Globals that the generated code uses. */
const GLOBAL_NAMES = ['BigInt', 'JSON', 'Number', 'Object', 'Set'];

/** Whether the operation would replace a command or a member of the client. */
export function isTakenOperationId(id: string): boolean {
  return [...COMMANDS, ...CLIENT_MEMBERS, ...INHERITED_NAMES].includes(id);
}

/** Letters and digits that a name of code cannot have, and that would be cut. */
const OTHER_LETTER = /(?![A-Za-z0-9])[\p{L}\p{M}\p{N}]/u;

/** The name of the type of a component: `latest-rates` is `LatestRates`. `undefined` if it cannot be a name. */
export function typeName(component: string): string | undefined {
  const name = pascalCase(component);
  const isName = /^[A-Z]\w*$/.test(name) && !GLOBAL_NAMES.includes(name);
  return isName && !OTHER_LETTER.test(component) ? name : undefined;
}

/** The name of a method: `get-latest-rates` is `getLatestRates`. `undefined` if it cannot be a name. */
export function methodName(operationId: string): string | undefined {
  const name = pascalCase(operationId);
  const id = name.charAt(0).toLowerCase() + name.slice(1);
  return /^[a-z][A-Za-z0-9]*$/.test(id) && !OTHER_LETTER.test(operationId) ? id : undefined;
}

/** Returns `name`, or the first of `name2`, `name3`, … that is free. */
export function freeName(name: string, isTaken: (candidate: string) => boolean): string {
  let candidate = name;
  for (let count = 2; isTaken(candidate); count += 1) candidate = `${name}${count}`;
  return candidate;
}

export function pascalCase(text: string): string {
  return text
    .split(/[^A-Za-z0-9_]+|_(?=[^_])/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}
