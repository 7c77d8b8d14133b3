import * as z from 'zod';
import { route } from '../route.ts';
import { account, createdKey, keySummary, keyUsage, mail, planName } from '../shapes.ts';

export const accountRoutes = [
  route('GET /accounts', {
    id: 'listAccounts',
    tag: 'accounts',
    summary: 'All accounts',
    answer: z.array(account),
    run: ({ mock }) => mock.accounts.list(),
  }),
  route('POST /accounts', {
    id: 'createAccount',
    tag: 'accounts',
    summary: 'A new account; its e-mail address is not confirmed yet',
    body: z.strictObject({ email: z.string().optional(), plan: planName.optional() }),
    answer: account,
    run: ({ mock, body }) => mock.accounts.create(body),
  }),
  route('GET /accounts/{accountId}', {
    id: 'getAccount',
    tag: 'accounts',
    summary: 'One account',
    answer: account,
    run: ({ mock, path }) => mock.accounts.get(path.accountId),
  }),
  route('POST /accounts/{accountId}/confirm', {
    id: 'confirmAccount',
    tag: 'accounts',
    summary: 'Confirm the e-mail address, as the link of the mail does',
    answer: account,
    run: ({ mock, path }) => mock.accounts.confirm(path.accountId),
  }),
  route('PUT /accounts/{accountId}/plan', {
    id: 'setPlan',
    tag: 'accounts',
    summary: 'Move the account, and with it its keys, to another plan',
    body: z.strictObject({ plan: planName }),
    answer: account,
    run: ({ mock, path, body }) => mock.accounts.setPlan(path.accountId, body.plan),
  }),
  route('POST /accounts/{accountId}/keys', {
    id: 'createAccountKey',
    tag: 'accounts',
    summary: 'A new key of this account, by the rules of the dashboard',
    answer: createdKey,
    run: ({ mock, path }) => mock.keys.create({ accountId: path.accountId }),
  }),
];

export const keyRoutes = [
  route('POST /keys', {
    id: 'createKey',
    tag: 'keys',
    summary: 'A confirmed account and its key in one step',
    body: z.strictObject({ plan: planName.optional() }),
    answer: createdKey,
    run: ({ mock, body: { plan } }) => mock.createKey(plan === undefined ? {} : { plan }),
  }),
  route('GET /keys', {
    id: 'listKeys',
    tag: 'keys',
    summary: 'All keys, or those of one account',
    query: z.strictObject({ accountId: z.string().optional() }),
    answer: z.array(keySummary),
    run: ({ mock, query: { accountId } }) => mock.keys.list(accountId === undefined ? {} : { accountId }),
  }),
  route('GET /keys/{keyId}', {
    id: 'getKey',
    tag: 'keys',
    summary: 'One key, without its secret',
    answer: keySummary,
    run: ({ mock, path }) => mock.keys.get(path.keyId),
  }),
  route('GET /keys/{keyId}/limits', {
    id: 'getKeyLimits',
    tag: 'keys',
    summary: 'What the key has used of both limits now, and how long its next request has to wait',
    answer: keyUsage,
    run: ({ mock, path }) => mock.keys.limits(path.keyId),
  }),
  route('GET /limits', {
    id: 'listLimits',
    tag: 'keys',
    summary: 'The same of the newest keys that are not revoked',
    query: z.strictObject({ limit: z.coerce.number().int().min(1).max(1000).default(50) }),
    answer: z.array(keyUsage),
    run: ({ mock, query: { limit } }) =>
      mock.keys
        .list()
        .filter(({ state }) => state === 'active')
        .slice(-limit)
        .map(({ id }) => mock.keys.limits(id)),
  }),
  route('DELETE /keys/{keyId}', {
    id: 'revokeKey',
    tag: 'keys',
    summary: 'Revoke a key: its next request fails',
    answer: keySummary,
    run: ({ mock, path }) => mock.keys.revoke(path.keyId),
  }),
  route('PUT /keys/{keyId}/usage', {
    id: 'setUsage',
    tag: 'keys',
    summary: 'Set how many requests count in the running quota period',
    body: z.strictObject({ month: z.number().int().min(0) }),
    answer: keySummary,
    run: ({ mock, path, body }) => mock.keys.setUsage(path.keyId, body),
  }),
];

export const outboxRoutes = [
  route('GET /outbox', {
    id: 'listMails',
    tag: 'outbox',
    summary: 'Confirmation mails that the emulated service has sent',
    query: z.strictObject({ to: z.string().optional() }),
    answer: z.array(mail),
    run: ({ mock, query }) => mock.outbox.list(query),
  }),
  route('DELETE /outbox', {
    id: 'clearOutbox',
    tag: 'outbox',
    summary: 'Forget the mails; their links stop working',
    run: ({ mock }) => mock.outbox.clear(),
  }),
];
