import { expect, onTestFinished, test } from 'vitest';
import { operationCommand } from '../../../src/cli/commands/operation.ts';
import { CliCommand } from '../../../src/cli/parser/command.ts';
import { helpText } from '../../../src/cli/parser/help-page.ts';
import { queryOf, typedParameters } from '../../../src/cli/parser/parameters.ts';
import { Screen } from '../../../src/cli/terminal/screen.ts';
import type { Operation, Parameter } from '../../../src/operation.ts';
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

function helpOf(operation: Operation, io = new FakeIo()): string {
  const command = operationCommand(operation).ready();
  new CliCommand('fxrates').addCommand(command);
  return helpText(command, new Screen(io, { color: 'auto', quiet: 0, output: 'auto', verbose: 0 }).out);
}

test('an operation of the contract has help without manual edits', () => {
  const help = helpOf(historical);

  expect(help).toContain('Rates of a past day. Uses one request of your monthly quota.');
  expect(help).toContain('$ fxrates historical date=2026-01-21');
  expect(help).toContain('Usage: fxrates historical [name=value...] [options]');
  expect(help).toContain('  date=<date>             The day (required)');
  expect(help).toContain('  symbols[]=<string,…>    Currencies (deprecated)');
});

test.each([
  [historical, ', e.g. date=2026-01-21'],
  [{ ...historical, query: 'free-form', parameters: [] } as const, ''],
  [undefined, ''],
])('the error for a word without a name has an example of the same operation', (operation, example) => {
  const typed = { args: ['2026-01-05'], options: {}, argv: [] };

  expect(() => typedParameters(typed, operation)).toThrow(
    `'2026-01-05' is not a parameter — parameters are written name=value${example}`,
  );
});

test('a choice with a comma is one value of a list', () => {
  const places = parameter('place', 'Place.', { list: 'repeated', choices: ['Bonn, DE', 'Rome'] });

  const query = queryOf({ ...historical, parameters: [places] }, { place: ['Bonn, DE', 'Rome,Bonn'] });

  expect(query).toEqual({ place: ['Bonn, DE', 'Rome', 'Bonn'] });
});

test.each([
  ['text', parameter('name', 'Name.', {}), false],
  ['a list', parameter('name', 'Name.', { list: 'comma' }), true],
])('on Windows, three letters and a blank are a lost comma in %s: %s', (_, name, isRefused) => {
  const { platform } = process;
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }));
  Object.defineProperty(process, 'platform', { value: 'win32' });
  const typed = () => typedParameters({ args: ['name=new day'], options: {} }, { ...historical, parameters: [name] });

  if (isRefused) expect(typed).toThrow('has blanks in place of commas');
  else expect(typed()).toEqual({ name: 'new day' });
});

test('parameters are sent in the order of the contract, and commas separate the values of a list', () => {
  const query = queryOf(historical, { page: '1', 'symbols[]': 'EUR,GBP', date: '2026-01-21' });

  expect(Object.entries(query)).toEqual([
    ['date', '2026-01-21'],
    ['page', 1],
    ['symbols[]', ['EUR', 'GBP']],
  ]);
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
  expect(queryOf(historical, { date: 'x', page: text })['page']).toBe(value);
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

test.each([40, 80])('help has no line of prose above %i columns, and shortens long lists of values', (columns) => {
  const choices = Array.from({ length: 31 }, (_, index) => `C${index}`);
  const description =
    'A list of what it does:\n- the first thing, which needs more than a line of a narrow screen and of one with eighty columns\n- more';
  const parameters = [parameter('currency', description, { type: choices.join('|'), choices })];

  const text = helpOf({ ...historical, description, parameters }, new FakeIo({ columns }));

  const lines = text.split('\n').filter((line) => !line.startsWith('  $ '));
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
  expect(text).toMatch(/^- the first thing.*\n {2}\S/m);
  expect(text).toMatch(/currency=<C0\|C1\|C2\|C3\|C4\|…>/);
  expect(text.replaceAll(/\s+/g, ' ')).toContain('(31 values, which the completion lists)');
});
