import * as z from 'zod';
import { account, accountOptions, mail, newPlan } from '../../service/accounts.ts';
import { createdKey, keyFilter, keySummary, keyUsage, newKey } from '../../service/keys.ts';
import { method } from '../route.ts';

export const accountRoutes = [
  method('GET /accounts', 'accounts.list', { summary: 'List all accounts', response: z.array(account) }),
  method('POST /accounts', 'accounts.create', {
    summary: 'Create an account and send a confirmation e-mail to its address',
    body: accountOptions,
    response: account,
  }),
  method('GET /accounts/{accountId}', 'accounts.get', { summary: 'Read an account', response: account }),
  method('POST /accounts/{accountId}/confirm', 'accounts.confirm', {
    summary: 'Confirm the e-mail address, as the link in the e-mail does',
    response: account,
  }),
  method('POST /accounts/{accountId}/mails', 'accounts.sendConfirmation', {
    summary: 'Send the confirmation e-mail again',
    response: mail,
  }),
  method('PUT /accounts/{accountId}/plan', 'accounts.setPlan', {
    summary: 'Move the account and its keys to another plan',
    takes: ['path.accountId', 'body.plan'],
    body: newPlan,
    response: account,
  }),
  method('POST /accounts/{accountId}/keys', 'keys.create', {
    summary: 'Create a key for this account, if its address is confirmed and its plan allows another key',
    takes: ['path'],
    response: createdKey,
  }),
  method('POST /keys', 'createKey', {
    summary: 'Create a confirmed account and a key in one step',
    body: newKey,
    response: createdKey,
  }),
  method('GET /keys', 'keys.list', {
    summary: 'List keys with their usage, oldest first',
    query: keyFilter.extend({ limit: z.coerce.number().pipe(keyFilter.shape.limit.unwrap()).optional() }),
    response: z.array(keySummary),
  }),
  method('GET /keys/{keyId}', 'keys.get', {
    summary: 'Read a key with its usage, and the wait until the next request is accepted',
    response: keySummary,
  }),
  method('DELETE /keys/{keyId}', 'keys.revoke', {
    summary: 'Revoke a key: its next request fails',
    response: keySummary,
  }),
  method('PUT /keys/{keyId}/usage', 'keys.setUsage', {
    summary: 'Set the number of requests counted in the current quota period, in the current minute, or in both',
    body: keyUsage,
    response: keySummary,
  }),
  method('GET /outbox', 'outbox.list', {
    summary: 'List the confirmation e-mails',
    query: z.strictObject({ to: z.string().optional().describe('Only e-mails to this address.') }),
    response: z.array(mail),
  }),
  method('DELETE /outbox', 'outbox.clear', { summary: 'Delete all e-mails' }),
];
