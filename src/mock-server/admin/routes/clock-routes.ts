import * as z from 'zod';
import { type AdminTarget, route } from '../route.ts';
import { clockState, moment } from '../shapes.ts';

const step = z
  .strictObject({
    advanceMs: z.number().min(0).optional().describe('Milliseconds to advance.'),
    advanceTo: moment.optional().describe('`quota-reset`, `next-window`, or a moment: ISO 8601, or milliseconds.'),
    frozen: z.boolean().optional().describe('Freezes or resumes the clock.'),
  })
  .refine((step) => Object.values(step).filter((value) => value !== undefined).length === 1, {
    error: 'set exactly one of advanceMs, advanceTo and frozen',
  });

export const clockRoutes = [
  route('GET /clock', {
    id: 'getClock',
    tag: 'clock',
    summary: 'Read the clock',
    answer: clockState,
    run: clockStateOf,
  }),
  route('POST /clock', {
    id: 'moveClock',
    tag: 'clock',
    summary: 'Advance, freeze or resume the clock; waits on the way end in order',
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
