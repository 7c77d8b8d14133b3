import * as z from 'zod';
import { openApi } from './openapi.ts';
import { type AdminRoute, route } from './route.ts';
import { accountRoutes } from './routes/account-routes.ts';
import { behaviourRoutes } from './routes/behaviour-routes.ts';
import { clockRoutes } from './routes/clock-routes.ts';
import { faultRoutes } from './routes/fault-routes.ts';
import { healthRoutes } from './routes/health-routes.ts';
import { journalRoutes } from './routes/journal-routes.ts';
import { keyRoutes } from './routes/key-routes.ts';
import { outboxRoutes } from './routes/outbox-routes.ts';
import { spaceRoutes } from './routes/space-routes.ts';
import { stateRoutes } from './routes/state-routes.ts';

const description = route({
  id: 'openapi',
  method: 'GET',
  path: '/openapi.json',
  tag: 'health',
  summary: 'This description',
  answer: z.looseObject({}),
  run: () => openApi(adminRoutes),
});

/** The whole admin API. One file of `routes/` for each part of the mock. */
export const adminRoutes: readonly AdminRoute[] = [
  ...healthRoutes,
  description,
  ...stateRoutes,
  ...clockRoutes,
  ...behaviourRoutes,
  ...faultRoutes,
  ...journalRoutes,
  ...accountRoutes,
  ...keyRoutes,
  ...outboxRoutes,
  ...spaceRoutes,
];
