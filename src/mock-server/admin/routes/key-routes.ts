import * as z from 'zod';
import { route } from '../route.ts';
import { createdKey, keySummary, planName } from '../shapes.ts';

const tag = 'keys';

export const keyRoutes = [
  route({
    id: 'createKey',
    method: 'POST',
    path: '/keys',
    tag,
    summary: 'A confirmed account and its key in one step',
    body: z.strictObject({ plan: planName.optional() }),
    answer: createdKey,
    run: ({ mock, body: { plan } }) => mock.createKey(plan === undefined ? {} : { plan }),
  }),
  route({
    id: 'listKeys',
    method: 'GET',
    path: '/keys',
    tag,
    summary: 'All keys, or those of one account',
    query: z.strictObject({ accountId: z.string().optional() }),
    answer: z.array(keySummary),
    run: ({ mock, query: { accountId } }) => mock.keys.list(accountId === undefined ? {} : { accountId }),
  }),
  route({
    id: 'getKey',
    method: 'GET',
    path: '/keys/{keyId}',
    tag,
    summary: 'One key, without its secret',
    answer: keySummary,
    run: ({ mock, path }) => mock.keys.get(path['keyId'] ?? ''),
  }),
  route({
    id: 'revokeKey',
    method: 'DELETE',
    path: '/keys/{keyId}',
    tag,
    summary: 'Revoke a key: its next request fails',
    answer: keySummary,
    run: ({ mock, path }) => mock.keys.revoke(path['keyId'] ?? ''),
  }),
  route({
    id: 'setUsage',
    method: 'PUT',
    path: '/keys/{keyId}/usage',
    tag,
    summary: 'Set how many requests count in the running quota period',
    body: z.strictObject({ month: z.number().int().min(0) }),
    answer: keySummary,
    run: ({ mock, path, body }) => mock.keys.setUsage(path['keyId'] ?? '', body),
  }),
];
