import * as z from 'zod';
import type { AdminTarget } from '../admin-target.ts';
import { route } from '../route.ts';
import { clockState } from '../shapes.ts';

const step = z
  .strictObject({
    advanceMs: z.number().min(0).optional().describe('Milliseconds to move on.'),
    advanceTo: z.string().optional().describe('`quota-reset`, `next-window`, or a moment in ISO 8601.'),
    frozen: z.boolean().optional().describe('Stops the time where it is, or lets it go on.'),
  })
  .refine((step) => Object.values(step).filter((value) => value !== undefined).length === 1, {
    error: 'give one of advanceMs, advanceTo and frozen',
  });

export const clockRoutes = [
  route({
    id: 'getClock',
    method: 'GET',
    path: '/clock',
    tag: 'clock',
    summary: 'The time of the mock',
    answer: clockState,
    run: clockStateOf,
  }),
  route({
    id: 'moveClock',
    method: 'POST',
    path: '/clock',
    tag: 'clock',
    summary: 'Move the time on, whoever waits is woken in order on the way; or stop it, or let it go on',
    body: step,
    answer: clockState,
    async run({ body, ...context }) {
      const { clock } = context.mock;
      if (body.advanceMs !== undefined) await clock.advance(body.advanceMs);
      if (body.advanceTo !== undefined) await clock.advanceTo(body.advanceTo);
      if (body.frozen === true) clock.freeze();
      if (body.frozen === false) clock.resume();
      return clockStateOf(context);
    },
  }),
];

function clockStateOf({ mock: { clock } }: Pick<AdminTarget, 'mock'>) {
  const now = clock.now();
  return { mode: clock.mode, frozen: clock.isFrozen, now, iso: new Date(now).toISOString() };
}
