import { Option } from 'commander';
import type { Operation } from '../../generated/operations.ts';
import type { CommandSpec } from '../command-spec.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import { selectValue } from '../json/select-value.ts';
import { namedOptions, namedQuery } from '../named-parameters.ts';
import { printJson, printRaw } from '../output/print-json.ts';
import { parameterArgument, parameterOption, typedParameters } from '../parameters.ts';
import { type Answer, askService } from '../service/ask-service.ts';
import { rehearse } from '../service/rehearse.ts';

/** The command of an operation, made from the contract alone: a new operation needs no code here. */
export function operationCommand(operation: Operation): CommandSpec {
  const { id, summary, description, consumesQuota } = operation;
  const takesParameters = operation.query !== 'none';
  return {
    name: id,
    summary: `${summary.charAt(0).toLowerCase()}${summary.slice(1)} (${consumesQuota ? 'uses quota' : 'free'})`,
    description: `${summary}. ${consumesQuota ? 'Uses one request of your monthly quota.' : 'Free: never uses your monthly quota.'}`,
    ...(takesParameters ? { argument: parameterArgument } : {}),
    options: () => operationOptions(operation),
    notes: description === '' ? [] : [description],
    examples: [exampleOf(operation)],
    asksService: true,
    takesParameters,
    run: (invocation) => runOperation(operation, invocation),
  };
}

async function runOperation(operation: Operation, invocation: Invocation): Promise<number> {
  const { settings, options } = invocation;
  const typed = typedParameters(invocation);
  const query = operation.query === 'named' ? namedQuery(operation, typed, options) : typed;
  const request = { operation, path: operation.path, query };
  if (settings.rehearsal !== undefined) return rehearse(request, invocation);
  const answer = await askService(request, invocation);
  const { rawBody } = answer;
  if (settings.output === 'raw') await printRaw(rawBody, invocation);
  else await printJson(options['envelope'] ? rawBody.trim() : (selectValue(rawBody, ['data']) ?? rawBody), invocation);
  await printFooter(operation, answer, invocation);
  return exitCodes.ok;
}

/** For people only: what the answer cost. */
async function printFooter(
  { consumesQuota }: Operation,
  { status, durationMs }: Answer,
  { screen, settings }: Invocation,
): Promise<void> {
  if (!screen.out.isTTY || !screen.err.isTTY || settings.output !== 'auto' || settings.get.length > 0) return;
  const cost = consumesQuota ? ' · used 1 of your monthly requests' : '';
  await screen.note(`${screen.err.palette.faint(`HTTP ${status} · ${Math.round(durationMs)} ms${cost}`)}\n`);
}

function operationOptions(operation: Operation): Option[] {
  return [
    ...(operation.query === 'named' ? namedOptions(operation) : []),
    ...(operation.query === 'none' ? [] : [parameterOption()]),
    new Option('--envelope', 'print the whole response, not only its "data"'),
  ];
}

function exampleOf({ id, parameters }: Operation): { readonly command: string; readonly comment: string } {
  const required = parameters.filter((parameter) => parameter.required);
  const words = required.map(({ name, type }) => `${name}=${type === 'date' ? '2026-01-21' : '…'}`);
  return { command: ['fxrates', id, ...words].join(' '), comment: '' };
}
