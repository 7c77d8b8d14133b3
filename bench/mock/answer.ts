/** What each server must give for `LATEST`, as the mock gives it. */
export interface Answer {
  readonly body: string;
  readonly headers: Record<string, string>;
}

export const LATEST = '/api/v1/latest?base=EUR';

/** The answer of a mock, as a server without a mock would give it. */
export async function answerOf(response: Response): Promise<Answer> {
  const headers = Object.fromEntries(response.headers);
  delete headers['connection'];
  delete headers['keep-alive'];
  return { body: await response.text(), headers };
}

/** Whether a body has the rates of all currencies that the answer has; how it is indented is the server's own. */
export function isWhole(body: string, answer: Answer): boolean {
  return currencies(body) === currencies(answer.body);
}

function currencies(body: string): string {
  const { success, data } = JSON.parse(body);
  return success === true ? Object.keys(data.rates).sort().join() : '';
}
