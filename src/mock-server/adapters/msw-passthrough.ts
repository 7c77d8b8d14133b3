/** Whether the answer is msw's `passthrough()` or `bypass()`: the request is meant to go on its way. */
export function isPassthrough({ headers }: Response): boolean {
  return headers.get('x-msw-intention') === 'passthrough';
}
