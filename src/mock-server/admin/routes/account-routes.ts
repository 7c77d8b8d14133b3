import * as z from 'zod';
import { planName } from '../../state/snapshot-shape.ts';
import { route } from '../route.ts';
import { account, createdKey, keySummary, keyUsed, mail, newKey } from '../shapes.ts';

export const accountRoutes = [
  route('GET /accounts', {
    id: 'listAccounts',
    tag: 'accounts',
    summary: 'List all accounts',
    response: z.array(account),
    run: ({ mock }) => mock.accounts.list(),
  }),
  route('POST /accounts', {
    id: 'createAccount',
    tag: 'accounts',
    summary: 'Create an account and send a confirmation e-mail to its address',
    body: z.strictObject({
      email: z.string().optional().describe('Default: an invented address.'),
      plan: planName.optional(),
    }),
    response: account,
    run: ({ mock, body }) => mock.accounts.create(body),
  }),
  route('GET /accounts/{accountId}', {
    id: 'getAccount',
    tag: 'accounts',
    summary: 'Read an account',
    response: account,
    run: ({ mock, path }) => mock.accounts.get(path.accountId),
  }),
  route('POST /accounts/{accountId}/confirm', {
    id: 'confirmAccount',
    tag: 'accounts',
    summary: 'Confirm the e-mail address, as the link in the e-mail does',
    response: account,
    run: ({ mock, path }) => mock.accounts.confirm(path.accountId),
  }),
  route('POST /accounts/{accountId}/mails', {
    id: 'sendConfirmation',
    tag: 'accounts',
    summary: 'Send the confirmation e-mail again',
    response: mail,
    run: ({ mock, path }) => mock.accounts.sendConfirmation(path.accountId),
  }),
  route('PUT /accounts/{accountId}/plan', {
    id: 'setPlan',
    tag: 'accounts',
    summary: 'Move the account and its keys to another plan',
    body: z.strictObject({ plan: planName }),
    response: account,
    run: ({ mock, path, body }) => mock.accounts.setPlan(path.accountId, body.plan),
  }),
  route('POST /accounts/{accountId}/keys', {
    id: 'createAccountKey',
    tag: 'accounts',
    summary: 'Create a key for this account, if its address is confirmed and its plan allows another key',
    response: createdKey,
    run: ({ mock, path }) => mock.keys.create({ accountId: path.accountId }),
  }),
];

export const keyRoutes = [
  route('POST /keys', {
    id: 'createKey',
    tag: 'keys',
    summary: 'Create a confirmed account and a key in one step',
    body: newKey,
    response: createdKey,
    run: ({ mock, body }) => mock.createKey(body),
  }),
  route('GET /keys', {
    id: 'listKeys',
    tag: 'keys',
    summary: 'List keys with their usage, oldest first',
    query: z.strictObject({
      accountId: z.string().optional().describe('Only keys of this account.'),
      limit: z.coerce.number().int().min(1).optional().describe('Maximum number of keys: the newest ones.'),
    }),
    response: z.array(keySummary),
    run: ({ mock, query }) => mock.keys.list(query),
  }),
  route('GET /keys/{keyId}', {
    id: 'getKey',
    tag: 'keys',
    summary: 'Read a key with its usage, and the wait until the next request is accepted',
    response: keySummary,
    run: ({ mock, path }) => mock.keys.get(path.keyId),
  }),
  route('DELETE /keys/{keyId}', {
    id: 'revokeKey',
    tag: 'keys',
    summary: 'Revoke a key: its next request fails',
    response: keySummary,
    run: ({ mock, path }) => mock.keys.revoke(path.keyId),
  }),
  route('PUT /keys/{keyId}/usage', {
    id: 'setUsage',
    tag: 'keys',
    summary: 'Set the number of requests counted in the current quota period, in the current minute, or in both',
    body: keyUsed,
    response: keySummary,
    run: ({ mock, path, body }) => mock.keys.setUsage(path.keyId, body),
  }),
];

export const outboxRoutes = [
  route('GET /outbox', {
    id: 'listMails',
    tag: 'outbox',
    summary: 'List the confirmation e-mails',
    query: z.strictObject({ to: z.string().optional().describe('Only e-mails to this address.') }),
    response: z.array(mail),
    run: ({ mock, query }) => mock.outbox.list(query),
  }),
  route('DELETE /outbox', {
    id: 'clearOutbox',
    tag: 'outbox',
    summary: 'Delete all e-mails',
    run: ({ mock }) => mock.outbox.clear(),
  }),
];
