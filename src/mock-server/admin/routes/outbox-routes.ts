import * as z from 'zod';
import { route } from '../route.ts';
import { mail } from '../shapes.ts';

const tag = 'outbox';

export const outboxRoutes = [
  route({
    id: 'listMails',
    method: 'GET',
    path: '/outbox',
    tag,
    summary: 'Confirmation mails that the emulated service has sent',
    query: z.strictObject({ to: z.string().optional() }),
    answer: z.array(mail),
    run: ({ mock, query }) => mock.outbox.list(query),
  }),
  route({
    id: 'clearOutbox',
    method: 'DELETE',
    path: '/outbox',
    tag,
    summary: 'Forget the mails; their links stop working',
    run: ({ mock }) => mock.outbox.clear(),
  }),
];
