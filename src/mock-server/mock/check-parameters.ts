import { en as english } from 'zod/locales';
import type { Operation, OperationId } from '../../generated/operations.ts';
import { querySchemas } from '../../generated/schemas.ts';
import { type FoundOperation, parameterValue } from '../../operation.ts';
import type { Switches } from '../behaviour/behaviour.ts';
import type { MockResponse } from '../http/message.ts';
import { type ParsedRequest, parametersOf } from '../http/parse-request.ts';
import { badParameter } from '../http/responses.ts';

/** Checks the parameters that the contract names, as the client does; `undefined` if they are valid, or free-form. */
export function parameterRefusal(
  { operation, parameters: inPath }: FoundOperation<Operation>,
  { request, switches }: { readonly request: ParsedRequest; readonly switches: Switches },
): MockResponse | undefined {
  if (operation.query !== 'named') return undefined;
  const inQuery = parametersOf(request.target);
  const values = operation.parameters.flatMap((parameter) => {
    const { name, list } = parameter;
    const texts = parameter.in === 'path' ? [inPath[name] ?? ''] : inQuery.getAll(name);
    const items = (list === 'comma' ? texts.flatMap((text) => text.split(',')) : texts).map((text) =>
      parameterValue(text, parameter),
    );
    if (items.length === 0) return [];
    // The name of a single value stands once, so a list is wrong there.
    return [[name, list === undefined && items.length === 1 ? items[0] : items]];
  });
  const schema = querySchemas[operation.id as OperationId];
  const { error } = schema.safeParse(Object.fromEntries(values), { error: english().localeError });
  const [issue] = error?.issues ?? [];
  if (issue === undefined) return undefined;
  const place = issue.path.map((part) => `'${String(part)}': `).join('');
  return badParameter(`${operation.id}: ${place}${issue.message}`, switches);
}
