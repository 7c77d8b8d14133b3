import * as z from 'zod';
import { type AdminTarget, route } from '../route.ts';
import { clockState, moment } from '../shapes.ts';

const step = z
  .strictObject({
    advanceMs: z.number().min(0).optional().describe('Milliseconds to move on.'),
    advanceTo: moment.optional().describe('`quota-reset`, `next-window`, or a moment: ISO 8601, or milliseconds.'),
    frozen: z.boolean().optional().describe('Stops the time where it is, or lets it go on.'),
  })
  .refine((step) => Object.values(step).filter((value) => value !== undefined).length === 1, {
    error: 'give one of advanceMs, advanceTo and frozen',
  });

export const clockRoutes = [
  route('GET /clock', {
    id: 'getClock',
    tag: 'clock',
    summary: 'The time of the mock',
    answer: clockState,
    run: clockStateOf,
  }),
  route('POST /clock', {
    id: 'moveClock',
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
