import { expect, test } from 'vitest';
import { CliCommand } from '../../../src/cli/command.ts';
import { operationCommand } from '../../../src/cli/commands/operation.ts';
import { helpText } from '../../../src/cli/help.ts';
import { namedQuery } from '../../../src/cli/parameters.ts';
import { Screen } from '../../../src/cli/terminal/screen.ts';
import type { Operation, Parameter } from '../../../src/generated/operations.ts';
import { FakeIo } from '../../helpers/cli-io.ts';

const historical: Operation = {
  id: 'historical',
  method: 'GET',
  path: '/api/v1/historical/{date}',
  summary: 'Rates of a past day',
  description: 'Invented for this test.',
  query: 'named',
  parameters: [
    parameter('date', 'The day.', { required: true, type: 'date', example: '2026-01-21', in: 'path' }),
    parameter('base_currency', 'Base.', { default: 'EUR' }),
    parameter('page', 'Page.', { type: 'integer', types: ['integer'] }),
    parameter('full', 'All of it.', { type: 'boolean', types: ['boolean'] }),
    parameter('symbols[]', 'Currencies.', { list: 'comma', deprecated: true }),
  ],
  consumesQuota: true,
  worksWhenQuotaExhausted: false,
  example: {},
  errors: [],
};

test('an operation of the contract has help without manual edits', () => {
  const command = operationCommand(historical).ready();
  new CliCommand('fxrates').addCommand(command);

  const { out: style } = new Screen(new FakeIo(), { color: 'auto', quiet: 0, output: 'auto', verbose: 0 });
  const help = helpText(command, style);

  expect(help).toContain('Rates of a past day. Uses one request of your monthly quota.');
  expect(help).toContain('$ fxrates historical date=2026-01-21');
  expect(help).toContain('Usage: fxrates historical [name=value...] [options]');
  expect(help).toContain('date=<date>  The day (required)');
  expect(help).toContain('symbols[]=<string,…>  Currencies (deprecated)');
});

test.each([
  ['page', '2', 2],
  ['page', '1.10', 1.1],
  ['page', '0x10', '0x10'],
  ['page', '', ''],
  ['full', 'true', true],
  ['date', 'true', 'true'],
  ['symbols[]', 'EUR,GBP', ['EUR', 'GBP']],
  ['unknown', 'x', 'x'],
])('%s=%s has the type of the contract', (name, text, value) => {
  expect(namedQuery(historical, { [name]: text })).toEqual({ [name]: value });
});

function parameter(name: string, description: string, rest: Partial<Parameter> = {}): Parameter {
  return {
    name,
    in: 'query',
    description,
    required: false,
    type: 'string',
    types: ['string'],
    example: undefined,
    ...rest,
  };
}
