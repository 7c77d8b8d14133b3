import { type Operation, operations } from './generated/operations.ts';

/** A path and its operation. */
export interface FoundOperation<Found> {
  readonly operation: Found;
  /** The path's parameters as texts, decoded; empty for a path without any. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** `/v1/rates/{date}` with each name in braces replaced. */
export function fillPath(path: string, textOf: (name: string) => string): string {
  return path.replaceAll(PLACEHOLDER, (_, name: string) => textOf(name));
}

/** The end of a base URL's path that the client adds itself: `/api/v1`, or the path of an operation. */
export function apiPathIn(pathname: string): string | undefined {
  const path = pathname.replace(/\/+$/, '');
  const { path: operation } = Object.values<Operation>(operations).find((one) => path.endsWith(one.path)) ?? {};
  return operation ?? /\/api\/v\d+$/.exec(path)?.[0];
}

/** Finds the operation of a path. Exact paths come first, then those with the most fixed characters. */
export function createOperationFinder<Found extends Pick<Operation, 'path'>>(operations: readonly Found[]) {
  const exact = new Map(operations.map((operation) => [operation.path, { operation, parameters: {} }]));
  const templates = operations
    .filter(({ path }) => path.includes('{'))
    .map((operation) => ({ operation, ...patternOf(operation.path) }))
    .sort((one, other) => other.fixedLength - one.fixedLength);
  return (path: string): FoundOperation<Found> | undefined => {
    const found = exact.get(path);
    if (found !== undefined && !path.includes('{')) return found;
    for (const { operation, pattern, names } of templates) {
      const match = pattern.exec(path);
      if (match === null) continue;
      return {
        operation,
        parameters: Object.fromEntries(names.map((name, at) => [name, decodedComponent(match[at + 1] ?? '')])),
      };
    }
    return undefined;
  };
}

const PLACEHOLDER = /\{([^{}]+)\}/g;

function patternOf(path: string) {
  const fixed = path.split(/\{[^{}]+\}/);
  const source = fixed.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('([^/]+?)');
  const names = Array.from(path.matchAll(PLACEHOLDER), ([, name = '']) => name);
  return { pattern: new RegExp(`^${source}$`), names, fixedLength: fixed.join('').length };
}

/** Text with an invalid escape is returned unchanged. */
export function decodedComponent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
