import * as z from 'zod';
import { route } from '../route.ts';

const ok = z.object({ status: z.literal('ok') });

export const healthRoutes = [
  route({
    id: 'health',
    method: 'GET',
    path: '/health',
    tag: 'health',
    summary: 'Whether the process answers',
    isOpen: true,
    answer: ok,
    run: () => ({ status: 'ok' }),
  }),
  route({
    id: 'ready',
    method: 'GET',
    path: '/ready',
    tag: 'health',
    summary: 'Whether the mock can be used: it listens only once it can',
    isOpen: true,
    answer: ok,
    run: () => ({ status: 'ok' }),
  }),
];
