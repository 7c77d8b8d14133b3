import * as z from 'zod';
import { type AdminContext, route } from '../route.ts';
import { clockState } from '../shapes.ts';

const step = z
  .strictObject({
    advanceMs: z.number().min(0).optional().describe('Milliseconds to move on.'),
    advanceTo: z.string().optional().describe('`quota-reset`, `next-window`, or a moment in ISO 8601.'),
  })
  .refine(({ advanceMs, advanceTo }) => (advanceMs === undefined) !== (advanceTo === undefined), {
    error: 'give either advanceMs or advanceTo',
  });

export const clockRoutes = [
  route({
    id: 'getClock',
    method: 'GET',
    path: '/clock',
    tag: 'clock',
    summary: 'The time of the mock',
    answer: clockState,
    run: stateOf,
  }),
  route({
    id: 'moveClock',
    method: 'POST',
    path: '/clock',
    tag: 'clock',
    summary: 'Move the time on; whoever waits is woken in order on the way',
    body: step,
    answer: clockState,
    async run({ body, ...context }) {
      const { clock } = context.mock;
      if (body.advanceMs !== undefined) await clock.advance(body.advanceMs);
      if (body.advanceTo !== undefined) await clock.advanceTo(body.advanceTo);
      return stateOf(context);
    },
  }),
];

function stateOf({ mock: { clock } }: Pick<AdminContext, 'mock'>) {
  const now = clock.now();
  return { mode: clock.mode, now, iso: new Date(now).toISOString() };
}
