/** Names of the header, the service's own before those of proxies. */
const NAMES = ['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'x-amz-cf-id', 'cf-ray'];

/** ID of the response; `undefined` if no header has one. */
export function requestIdOf(headers: { get(name: string): string | null | undefined } | undefined): string | undefined {
  for (const name of NAMES) {
    const id = headers?.get(name);
    if (id) return id;
  }
  return undefined;
}
