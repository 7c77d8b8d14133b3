import { operations } from '../../generated/operations.ts';
import type { CommandSpec } from '../command-spec.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Invocation } from '../invocation.ts';
import { selectValue } from '../json/select-value.ts';
import { printJson, printRaw } from '../output/print-json.ts';
import { withRemaining } from '../output/quota-fields.ts';
import { quotaTable } from '../output/quota-table.ts';
import { askService } from '../service/ask-service.ts';
import { rehearse } from '../service/rehearse.ts';
import { operationCommand } from './operation.ts';

export const quotaCommand: CommandSpec = {
  ...operationCommand(operations.quota),
  summary: 'plan, usage, limits and reset time (free)',
  description: 'Plan, usage, limits and reset time of your key. Free: never uses your monthly quota.',
  options: () => [],
  examples: [
    { command: 'fxrates quota', comment: '' },
    { command: 'fxrates quota --get monthly_remaining', comment: 'one number' },
    { command: 'fxrates quota --json', comment: 'the record, with monthly_remaining' },
  ],
  notes: [
    'In a pipe it prints one "name<TAB>value" line per field. The names are those of the service; monthly_remaining is added.',
    'It keeps working when the monthly quota is used up, but the per-minute limit applies.',
  ],
  run: runQuota,
};

async function runQuota(invocation: Invocation): Promise<number> {
  const { settings, screen, io } = invocation;
  const request = { operation: operations.quota, path: operations.quota.path, query: {} };
  if (settings.rehearsal !== undefined) return rehearse(request, invocation);
  const answer = await askService(request, invocation);
  const json = withRemaining(selectValue(answer.rawBody, ['data']) ?? '{}');
  const isPlain = settings.output === 'auto' && settings.get.length === 0;
  if (settings.output === 'raw') await printRaw(answer.rawBody, invocation);
  else if (!isPlain) await printJson(json, invocation);
  else if (screen.out.isTTY)
    await screen.tell(quotaTable(json, { face: screen.out, now: answer.at, key: answer.key, timeZone: io.timeZone }));
  else await printJson(json, { ...invocation, settings: { ...settings, output: 'tsv' } });
  return exitCodes.ok;
}
