import * as z from 'zod';
import { route } from '../route.ts';
import { account, createdKey, planName } from '../shapes.ts';

const tag = 'accounts';

export const accountRoutes = [
  route({
    id: 'listAccounts',
    method: 'GET',
    path: '/accounts',
    tag,
    summary: 'All accounts',
    answer: z.array(account),
    run: ({ mock }) => mock.accounts.list(),
  }),
  route({
    id: 'createAccount',
    method: 'POST',
    path: '/accounts',
    tag,
    summary: 'A new account; its e-mail address is not confirmed yet',
    body: z.strictObject({ email: z.string().optional(), plan: planName.optional() }),
    answer: account,
    run: ({ mock, body }) => mock.accounts.create(body),
  }),
  route({
    id: 'getAccount',
    method: 'GET',
    path: '/accounts/{accountId}',
    tag,
    summary: 'One account',
    answer: account,
    run: ({ mock, path }) => mock.accounts.get(path['accountId'] ?? ''),
  }),
  route({
    id: 'confirmAccount',
    method: 'POST',
    path: '/accounts/{accountId}/confirm',
    tag,
    summary: 'Confirm the e-mail address, as the link of the mail does',
    answer: account,
    run: ({ mock, path }) => mock.accounts.confirm(path['accountId'] ?? ''),
  }),
  route({
    id: 'setPlan',
    method: 'PUT',
    path: '/accounts/{accountId}/plan',
    tag,
    summary: 'Move the account, and with it its keys, to another plan',
    body: z.strictObject({ plan: planName }),
    answer: account,
    run: ({ mock, path, body }) => mock.accounts.setPlan(path['accountId'] ?? '', body.plan),
  }),
  route({
    id: 'createAccountKey',
    method: 'POST',
    path: '/accounts/{accountId}/keys',
    tag,
    summary: 'A new key of this account, by the rules of the dashboard',
    answer: createdKey,
    run: ({ mock, path }) => mock.keys.create({ accountId: path['accountId'] ?? '' }),
  }),
];
