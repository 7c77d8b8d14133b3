import * as z from 'zod';
import { account, accountOptions, mail, newPlan } from '../../service/accounts.ts';
import { createdKey, keyFilter, keySummary, keyUsage, newKey } from '../../service/keys.ts';
import { method } from '../route.ts';

export const accountRoutes = [
  method('GET /accounts', 'accounts.list', {
    tag: 'accounts',
    summary: 'List all accounts',
    response: z.array(account),
  }),
  method('POST /accounts', 'accounts.create', {
    tag: 'accounts',
    summary: 'Create an account and send a confirmation e-mail to its address',
    takes: ['body'],
    body: accountOptions,
    response: account,
  }),
  method('GET /accounts/{accountId}', 'accounts.get', {
    tag: 'accounts',
    summary: 'Read an account',
    takes: ['accountId'],
    response: account,
  }),
  method('POST /accounts/{accountId}/confirm', 'accounts.confirm', {
    tag: 'accounts',
    summary: 'Confirm the e-mail address, as the link in the e-mail does',
    takes: ['accountId'],
    response: account,
  }),
  method('POST /accounts/{accountId}/mails', 'accounts.sendConfirmation', {
    tag: 'accounts',
    summary: 'Send the confirmation e-mail again',
    takes: ['accountId'],
    response: mail,
  }),
  method('PUT /accounts/{accountId}/plan', 'accounts.setPlan', {
    tag: 'accounts',
    summary: 'Move the account and its keys to another plan',
    takes: ['accountId', 'body.plan'],
    body: newPlan,
    response: account,
  }),
  method('POST /accounts/{accountId}/keys', 'keys.create', {
    tag: 'accounts',
    summary: 'Create a key for this account, if its address is confirmed and its plan allows another key',
    takes: ['path'],
    response: createdKey,
  }),
  method('POST /keys', 'createKey', {
    tag: 'keys',
    summary: 'Create a confirmed account and a key in one step',
    takes: ['body'],
    body: newKey,
    response: createdKey,
  }),
  method('GET /keys', 'keys.list', {
    tag: 'keys',
    summary: 'List keys with their usage, oldest first',
    takes: ['query'],
    query: keyFilter.extend({ limit: z.coerce.number().pipe(keyFilter.shape.limit.unwrap()).optional() }),
    response: z.array(keySummary),
  }),
  method('GET /keys/{keyId}', 'keys.get', {
    tag: 'keys',
    summary: 'Read a key with its usage, and the wait until the next request is accepted',
    takes: ['keyId'],
    response: keySummary,
  }),
  method('DELETE /keys/{keyId}', 'keys.revoke', {
    tag: 'keys',
    summary: 'Revoke a key: its next request fails',
    takes: ['keyId'],
    response: keySummary,
  }),
  method('PUT /keys/{keyId}/usage', 'keys.setUsage', {
    tag: 'keys',
    summary: 'Set the number of requests counted in the current quota period, in the current minute, or in both',
    takes: ['keyId', 'body'],
    body: keyUsage,
    response: keySummary,
  }),
  method('GET /outbox', 'outbox.list', {
    tag: 'outbox',
    summary: 'List the confirmation e-mails',
    takes: ['query'],
    query: z.strictObject({ to: z.string().optional().describe('Only e-mails to this address.') }),
    response: z.array(mail),
  }),
  method('DELETE /outbox', 'outbox.clear', { tag: 'outbox', summary: 'Delete all e-mails' }),
];
