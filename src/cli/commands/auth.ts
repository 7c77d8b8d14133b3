import { Option } from 'commander';
import { login } from '../auth/login.ts';
import { logout } from '../auth/logout.ts';
import { status } from '../auth/status.ts';
import { printToken } from '../auth/token.ts';
import type { CommandSpec } from '../command-spec.ts';

export const authCommand: CommandSpec = {
  name: 'auth',
  summary: 'store, check and remove your key',
  description:
    'Keeps the key in credentials.json, which only you can read, bound to the base URL that it was stored for.',
  callsService: false,
  commands: [
    {
      name: 'login',
      summary: 'store a key for a base URL',
      description: 'Asks for the key without showing it, checks it with one free quota call, and stores it.',
      options: () => [new Option('--no-verify', 'store the key without asking the service')],
      examples: [
        { command: 'fxrates auth login --base-url https://api.example.test', comment: '' },
        { command: 'fxrates auth login --key-stdin < key.txt', comment: '' },
      ],
      notes: ['A key that the service refuses is not stored. The key is sent to the origin of this base URL alone.'],
      callsService: true,
      run: login,
    },
    {
      name: 'status',
      summary: 'which key would be used, from where, and whether it works',
      description:
        'Shows the base URL and the key that would be used, where they come from and what they shadow, and checks the key with one free quota call.',
      options: () => [new Option('--no-verify', 'do not ask the service')],
      examples: [{ command: 'fxrates auth status', comment: '' }],
      callsService: true,
      printsData: true,
      run: status,
    },
    {
      name: 'logout',
      summary: 'remove the stored key',
      description:
        'Removes the stored key of the profile. The key itself stays valid until it is revoked in the dashboard.',
      examples: [{ command: 'fxrates auth logout', comment: '' }],
      callsService: false,
      usesConfig: true,
      run: logout,
    },
    {
      name: 'token',
      summary: 'print the key, for scripts',
      description: 'Prints the key that would be used. On a terminal it needs --show.',
      options: () => [new Option('--show', 'print it although this is a terminal')],
      examples: [{ command: 'FXRATES_API_KEY=$(fxrates auth token) ./script', comment: '' }],
      callsService: true,
      run: printToken,
    },
  ],
};
