import { Option } from 'commander';
import type { CommandSpec } from '../command-spec.ts';
import { usageError } from '../errors/cli-error.ts';
import { probe } from '../mock/probe.ts';

export const mockProbeCommand: CommandSpec = {
  name: 'probe',
  summary: 'find out how a running service behaves, for --behaviour',
  description:
    'Asks a running service, with your key and within a budget, how it behaves where its documentation does not say, and prints what was observed as JSON: a file for fxrates mock --behaviour. What cannot be seen is listed, never guessed.',
  argument: { syntax: '<url>', description: 'base URL of the service' },
  options: () => [
    new Option('--max-requests <count>', 'never more than this (default: 14)').argParser(parseCount),
    new Option('--out <file>', 'write there instead of stdout'),
  ],
  examples: [
    { command: 'fxrates mock probe https://api.example.test --out behaviour.json', comment: '' },
    { command: 'fxrates mock --behaviour behaviour.json', comment: 'a mock that behaves like it' },
  ],
  notes: [
    'It begins with quota, which is free; one request of the default budget may count in the month. A budget above the per-minute limit by 20 also meets that limit, with two more that count.',
  ],
  callsService: true,
  run: probe,
};

function parseCount(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw usageError(`--max-requests takes a whole number from 1 to 99999, got '${text}'`);
}
