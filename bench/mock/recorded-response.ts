/** The response that each server must send for `LATEST`: that of the mock. */
export interface RecordedResponse {
  readonly body: string;
  readonly headers: Record<string, string>;
}

export const LATEST = '/api/v1/latest?base=EUR';

/** The response of a mock, in the form that another server can send. */
export async function responseOf(response: Response): Promise<RecordedResponse> {
  const headers = Object.fromEntries(response.headers);
  delete headers['connection'];
  delete headers['keep-alive'];
  return { body: await response.text(), headers };
}

/** Whether a body has a rate for every currency of the response; servers may indent it differently. */
export function isWhole(body: string, response: RecordedResponse): boolean {
  return currencies(body) === currencies(response.body);
}

function currencies(body: string): string {
  const { success, data } = JSON.parse(body);
  return success === true ? Object.keys(data.rates).sort().join() : '';
}
