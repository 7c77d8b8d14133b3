import type { Invocation } from '../invocation.ts';
import { selectValue } from '../json/select-value.ts';
import type { ServiceResponse } from '../request/send-request.ts';
import { printJson, printRaw } from './print-json.ts';
import { printShape } from './print-shape.ts';

/** Prints the answer of an operation as `--shape`, `--envelope` and the output format say. */
export async function printResponse({ rawBody }: ServiceResponse, invocation: Invocation): Promise<void> {
  const { settings, options } = invocation;
  if (options['shape'] === true) await printShape(dataOf(rawBody), invocation);
  else if (settings.output === 'raw') await printRaw(rawBody, invocation);
  else await printJson(options['envelope'] ? rawBody.trim() : dataOf(rawBody), invocation);
}

/** The text of "data", as it came. */
export function dataOf(rawBody: string): string {
  return selectValue(rawBody, ['data']) ?? rawBody;
}
