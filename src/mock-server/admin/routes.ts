import * as z from 'zod';
import { openApi } from './openapi.ts';
import { route } from './route.ts';
import { accountRoutes, keyRoutes, outboxRoutes } from './routes/account-routes.ts';
import { behaviourRoutes } from './routes/behaviour-routes.ts';
import { clockRoutes } from './routes/clock-routes.ts';
import { faultRoutes } from './routes/fault-routes.ts';
import { journalRoutes } from './routes/journal-routes.ts';
import { spaceRoutes } from './routes/space-routes.ts';
import { stateRoutes } from './routes/state-routes.ts';
import { stubRoutes } from './routes/stub-routes.ts';

const health = route('GET /health', {
  id: 'health',
  tag: 'health',
  summary: 'Check whether the mock is ready',
  isOpen: true,
  answer: z.object({ status: z.literal('ok') }),
  run: () => ({ status: 'ok' }),
});

const description = route('GET /openapi.json', {
  id: 'openapi',
  tag: 'health',
  summary: 'Read the OpenAPI description of the admin API',
  answer: z.looseObject({}),
  run: (): object => openApi(adminRoutes),
});

/** The whole admin API. One file of `routes/` for each part of the mock. */
export const adminRoutes = [
  health,
  description,
  ...stateRoutes,
  ...clockRoutes,
  ...behaviourRoutes,
  ...faultRoutes,
  ...stubRoutes,
  ...journalRoutes,
  ...accountRoutes,
  ...keyRoutes,
  ...outboxRoutes,
  ...spaceRoutes,
];
