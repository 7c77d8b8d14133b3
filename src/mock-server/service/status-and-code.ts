/** The status and the error code that a switch value such as `'401 unauthorized'` names. */
export function statusAndCode(value: `${number} ${string}`): { readonly status: number; readonly code: string } {
  return { status: Number(value.slice(0, 3)), code: value.slice(4) };
}
