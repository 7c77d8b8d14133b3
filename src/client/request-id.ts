/** What services and the proxies before them call it, in the order of trust. */
const NAMES = ['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'x-amz-cf-id', 'cf-ray'];

/** What the service calls its answer; `undefined` when no header tells. */
export function requestIdOf(headers: { get(name: string): string | null | undefined } | undefined): string | undefined {
  for (const name of NAMES) {
    const id = headers?.get(name);
    if (id) return id;
  }
  return undefined;
}
