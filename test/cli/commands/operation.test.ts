import { Command } from 'commander';
import { expect, test } from 'vitest';
import { operationCommand } from '../../../src/cli/commands/operation.ts';
import { commandHelp } from '../../../src/cli/help/command-help.ts';
import { namedOptions, namedQuery } from '../../../src/cli/parameters.ts';
import { Screen } from '../../../src/cli/terminal/screen.ts';
import type { Operation } from '../../../src/generated/operations.ts';
import { FakeIo } from '../../helpers/cli-io.ts';

const historical: Operation = {
  id: 'historical',
  method: 'GET',
  path: '/api/v1/historical',
  summary: 'Rates of a past day',
  description: 'Invented for this test.',
  query: 'named',
  parameters: [
    { name: 'date', description: 'The day.', required: true, type: 'date' },
    { name: 'base_currency', description: 'Base.', required: false, type: 'string' },
    { name: 'page', description: 'Page.', required: false, type: 'integer' },
    { name: 'full', description: 'All of it.', required: false, type: 'boolean' },
    { name: 'timeout', description: 'A name that the program has too.', required: false, type: 'string' },
  ],
  consumesQuota: true,
  worksWhenQuotaExhausted: false,
  example: {},
  errors: [],
};

test('an operation of the contract gets its help without a hand edit', () => {
  const spec = operationCommand(historical);
  const command = new Command('fxrates').command('historical');
  for (const option of spec.options?.() ?? []) command.addOption(option);

  const help = commandHelp(spec, command, new Screen(new FakeIo(), { color: 'auto', quiet: 0, output: 'auto' }).help);

  expect(help).toContain('Rates of a past day. Uses one request of your monthly quota.');
  expect(help).toContain('$ fxrates historical date=2026-01-21');
  expect(help).toContain('Usage: fxrates historical [name=value...] [options]');
  expect(help).toMatch(/--date <date>\s+The day \(required\)/);
  expect(help).toMatch(/--base-currency <base-currency>/);
});

test('a parameter whose option would be taken is left to name=value', () => {
  expect(namedOptions(historical).map(({ long }) => long)).not.toContain('--timeout');
});

test('options and name=value make one query, in the order of the contract', () => {
  const query = namedQuery(historical, { base_currency: 'USD', timeout: '1' }, { date: '2026-01-21' });

  expect(Object.entries(query)).toEqual([
    ['date', '2026-01-21'],
    ['base_currency', 'USD'],
    ['timeout', '1'],
  ]);
});

test('numbers and truth values become what the contract says, but only without loss', () => {
  const query = namedQuery(historical, { date: 'x', page: ['2', '1.10', '007'], full: 'true' }, {});

  expect(query).toEqual({ date: 'x', page: [2, '1.10', '007'], full: true });
});

test('an unknown and a missing parameter are named', () => {
  expect(() => namedQuery(historical, { dte: '2026' }, {})).toThrow("historical has no parameter 'dte'");
  expect(() => namedQuery(historical, {}, {})).toThrow("historical needs the parameter 'date'");
});
