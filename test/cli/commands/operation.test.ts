import { Option } from 'commander';
import { expect, test } from 'vitest';
import { CliCommand } from '../../../src/cli/command.ts';
import { operationCommand } from '../../../src/cli/commands/operation.ts';
import { helpText } from '../../../src/cli/help.ts';
import { namedQuery, parameterOptions } from '../../../src/cli/parameters.ts';
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
    parameter('timeout', 'A name that the program has too.'),
    parameter('cache', 'A name that the command has too.'),
    parameter('symbols[]', 'Currencies.', { list: 'comma', deprecated: true }),
    parameter('base-currency', 'The same option.'),
    parameter('no_wait', 'A negation for commander.'),
    parameter('order', 'Order.', { type: 'asc|desc', choices: ['asc', 'desc'] }),
    parameter('€', 'Neither letter nor digit.'),
  ],
  consumesQuota: true,
  worksWhenQuotaExhausted: false,
  example: {},
  errors: [],
};

const options = parameterOptions(historical, [new Option('--cache <age>'), new Option('--envelope')]);

/** The options as commander parses them. */
function typed(...argv: readonly string[]): object {
  return operationCommand(historical).ready().parse(argv, { from: 'user' }).opts();
}

test('an operation of the contract has help without manual edits', () => {
  const command = operationCommand(historical).ready();
  new CliCommand('fxrates').addCommand(command);

  const { help: style } = new Screen(new FakeIo(), { color: 'auto', quiet: 0, output: 'auto', verbose: 0 });
  const help = helpText(command, style);

  expect(help).toContain('Rates of a past day. Uses one request of your monthly quota.');
  expect(help).toContain('$ fxrates historical date=2026-01-21');
  expect(help).toContain('Usage: fxrates historical [name=value...] [options]');
  expect(help).toMatch(/--date <date>\s+The day \(required\)/);
  expect(help).toMatch(/--base-currency <base-currency>/);
});

test('each parameter whose name can be an option has one; help shows the name that is sent', () => {
  const shown = options.map(({ flags, description }) => [flags, description]);

  expect(shown).toEqual([
    ['--date <date>', 'The day (required)'],
    ['--base-currency <base-currency>', 'Base (default: EUR)'],
    ['--page <integer>', 'Page'],
    ['--full <boolean>', 'All of it'],
    ['--timeout-parameter <timeout>', 'A name that the program has too (sent as timeout)'],
    ['--cache-parameter <cache>', 'A name that the command has too (sent as cache)'],
    ['--symbols <symbols,…>', 'Currencies (sent as symbols[]) (deprecated)'],
    ['--base-currency-parameter <base-currency>', 'The same option (sent as base-currency)'],
    ['--order <asc|desc>', 'Order'],
  ]);
});

test('completion offers the values of an enum', () => {
  expect(options.find(({ long }) => long === '--order')?.argChoices).toEqual(['asc', 'desc']);
});

test('options and name=value make one query, in the order of the contract', () => {
  const query = namedQuery(historical, { base_currency: 'USD', timeout: '1' }, typed('--date', '2026-01-21'));

  expect(Object.entries(query)).toEqual([
    ['date', '2026-01-21'],
    ['base_currency', 'USD'],
    ['timeout', '1'],
  ]);
});

test('commas separate the values of a list in every form', () => {
  const byName = namedQuery(historical, { date: 'x', 'symbols[]': 'EUR,GBP' }, {});
  const once = namedQuery(historical, { date: 'x' }, typed('--symbols', 'EUR,GBP'));
  const twice = namedQuery(historical, { date: 'x' }, typed('--symbols', 'EUR', '--symbols', 'GBP'));

  for (const query of [byName, once, twice]) expect(query['symbols[]']).toEqual(['EUR', 'GBP']);
});

test('an option rejects an API key', () => {
  const secret = `fx_live_${'0a'.repeat(24)}`;

  expect(() => namedQuery(historical, {}, typed('--date', secret))).toThrow("refusing to send the value of 'date'");
});

test.each([
  ['2', 2],
  ['1e3', 1000],
  ['010', 10],
  ['1.10', 1.1],
  ['-5', -5],
  ['0x10', '0x10'],
  ['', ''],
  ['12345678901234567890', '12345678901234567890'],
  ['true', 'true'],
])('%j is a number where the contract has one, unless digits would be lost', (text, value) => {
  expect(namedQuery(historical, { date: 'x', page: text }, {})['page']).toBe(value);
});

test('true and false become booleans where the contract has them', () => {
  const query = namedQuery(historical, { date: 'true', full: 'true' }, {});

  expect(query).toEqual({ date: 'true', full: true });
});

test('an unknown and a missing parameter are named', () => {
  expect(() => namedQuery(historical, { dte: '2026' }, {})).toThrow("historical has no parameter 'dte'");
  expect(() => namedQuery(historical, {}, {})).toThrow("historical needs the parameter 'date'");
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
