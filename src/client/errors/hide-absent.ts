/** Keeps what was not given out of `console.log(error)`; it can be read all the same. */
export function hideAbsent(error: Error, given: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) Object.defineProperty(error, name, { enumerable: false });
  }
}
