import { operations } from '../../generated/operations.ts';
import type { CommandSpec } from '../command-spec.ts';
import { operationCommand } from './operation.ts';

export const latestCommand: CommandSpec = {
  ...operationCommand(operations.latest),
  examples: [
    { command: 'fxrates latest', comment: 'everything the service returns' },
    { command: 'fxrates latest base=USD symbols=EUR,GBP', comment: 'parameters are sent as they are' },
    { command: 'fxrates latest base=USD --get rates.EUR', comment: 'one value, digits unchanged' },
    { command: 'fxrates latest -o tsv | grep EUR', comment: 'one value per line' },
  ],
  notes: [
    'The service does not document the parameters or the fields of this endpoint, so fxrates neither checks nor changes them.',
  ],
};
