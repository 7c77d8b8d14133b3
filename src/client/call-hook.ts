import { thrownText } from './errors/thrown-value.ts';

const warnedOf = new WeakSet<(event: never) => unknown>();

/** Calls a hook. If it throws or rejects, its first error becomes a process warning, and the call continues. */
export function callHook<Event>(hook: ((event: Event) => unknown) | undefined, event: Event): void {
  if (hook === undefined) return;
  try {
    const result = hook(event);
    if (isThenable(result)) Promise.resolve(result).catch((error: unknown) => warnOfHook(hook, error));
  } catch (error) {
    warnOfHook(hook, error);
  }
}

function isThenable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'then' in value;
}

function warnOfHook(hook: (event: never) => unknown, error: unknown): void {
  if (warnedOf.has(hook)) return;
  warnedOf.add(hook);
  process.emitWarning('a hook or logger threw an error; the call continues', {
    type: 'FxRatesWarning',
    detail: thrownText(error),
  });
}
