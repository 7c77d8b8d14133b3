import * as z from 'zod';
import { faultInput } from '../../faults/fault-kinds.ts';
import { resetOptions } from '../../initial-state.ts';
import { setupKey, setupParts } from '../../mock-options.ts';
import { createdKey } from '../../service/keys.ts';
import { snapshotSchema } from '../../state/snapshot.ts';
import { stubInput } from '../../stubs/stub-schemas.ts';
import { type AdminCall, method, route } from '../route.ts';
import { clockState, latestData, presetOrChanges, recording } from '../shapes.ts';

/** Each part as the route of its own has it. */
const setup = setupParts.extend({
  keys: z.array(setupKey).optional().describe('Keys to create, each with an account of its own.'),
  behaviour: presetOrChanges.optional(),
  latest: latestData.optional().describe('The `data` of `latest`; an array has one element per request.'),
  replay: recording.optional().describe('Responses of `latest` by query.'),
  stubs: z.array(stubInput).optional(),
  faults: z.array(faultInput).optional(),
  $schema: z.string().optional().describe('Ignored by the mock. Editors read it.'),
});

export const stateRoutes = [
  method('GET /state', 'snapshot', { summary: 'Read the state as JSON without secrets', response: snapshotSchema }),
  method('PUT /state', 'restore', {
    summary: 'Restore a state of this or another mock or space, and clear the journal; a space keeps its key',
    body: snapshotSchema,
    // The mock checks it, as in process.
    checksBody: true,
  }),
  method('POST /reset', 'reset', {
    tag: 'state',
    summary:
      'Restore the initial state: of a space with its key, of the mock with its setup; 409 while spaces are open',
    body: resetOptions,
  }),
  method('POST /setup', 'setUp', {
    tag: 'state',
    summary: 'Create keys, change switches, and add responses and faults; if a part is invalid, nothing changes',
    takes: ['text'],
    body: setup,
    // The mock itself names the wrong part of a stub or a fault.
    checksBody: true,
    response: z.object({ keys: z.array(createdKey) }),
  }),
];

const step = z
  .strictObject({
    advanceMs: z.number().min(0).optional().describe('Milliseconds to advance.'),
    advanceTo: z
      .union([z.string(), z.number()])
      .optional()
      .describe('`quota-reset`, `next-window`, or a time: ISO 8601, or milliseconds.'),
    frozen: z.boolean().optional().describe('`true` freezes the clock, `false` resumes it.'),
  })
  .refine((step) => Object.values(step).filter((value) => value !== undefined).length === 1, {
    error: 'set exactly one of advanceMs, advanceTo and frozen',
  })
  .meta({ minProperties: 1, maxProperties: 1 });

export const clockRoutes = [
  route('GET /clock', {
    id: 'getClock',
    summary: 'Read the clock',
    response: clockState,
    run: clockStateOf,
  }),
  route('POST /clock', {
    id: 'moveClock',
    summary: 'Advance, freeze or resume the clock; waits that end before the new time end in order',
    body: step,
    response: clockState,
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

function clockStateOf({ mock: { clock } }: Pick<AdminCall<unknown, unknown>, 'mock'>) {
  const now = clock.now();
  return { mode: clock.mode, frozen: clock.isFrozen, now, iso: new Date(now).toISOString() };
}
