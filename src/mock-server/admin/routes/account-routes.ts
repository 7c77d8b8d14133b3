import * as z from 'zod';
import { accountOptions, newPlan } from '../../service/accounts.ts';
import { keyFilter, keyUsage, newKey } from '../../service/keys.ts';
import { method } from '../route.ts';
import { account, createdKey, keySummary } from '../shapes.ts';

export const accountRoutes = [
  method('GET /accounts', 'accounts.list', {
    tag: 'accounts',
    summary: 'List all accounts',
    response: z.array(account),
  }),
  method('POST /accounts', 'accounts.create', {
    tag: 'accounts',
    summary: 'Create an account whose e-mail address is not confirmed',
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
    summary: 'Confirm the e-mail address, as the link in an e-mail of the service does',
    takes: ['accountId'],
    response: account,
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
];
