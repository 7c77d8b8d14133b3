import * as z from 'zod';
import { PRESET_NAMES } from '../../behaviour/switch.ts';
import type { SpaceOptions, Spaces } from '../../spaces.ts';
import { Problem } from '../problem.ts';
import { type AdminTarget, route } from '../route.ts';
import { moment, planName, spaceName } from '../shapes.ts';
import { behaviourChanges } from './behaviour-routes.ts';

const tag = 'spaces';

const space = z.object({
  name: z.string(),
  key: z.string().describe('The whole key. Shown here and nowhere else.'),
  keyId: z.string(),
  accountId: z.string(),
});

const clock = z.strictObject({
  mode: z.enum(['real', 'virtual']),
  now: moment.optional(),
  autoAdvance: z.boolean().optional(),
  frozen: z.boolean().optional(),
});

/** As `mock.space()` takes them; the mock itself checks switches and moments, and names the wrong one. */
const opening = z.strictObject({
  name: spaceName.optional().describe('Decides the key. Letters, digits, `_` and `-`.'),
  plan: planName.optional(),
  clock: z.union([clock.shape.mode, clock]).optional().describe('Like the clock of the mock, unless told.'),
  behaviour: z
    .union([z.enum(PRESET_NAMES), behaviourChanges])
    .optional()
    .describe('On top of the switches of the mock.'),
});

export const spaceRoutes = [
  route('POST /spaces', {
    id: 'openSpace',
    tag,
    summary: 'An account and its key for one test, with counters, clock, switches, faults and journal of their own',
    body: opening as unknown as z.ZodType<SpaceOptions, SpaceOptions>,
    answer: space,
    run(call) {
      const { name, key, keyId, accountId } = spacesOf(call).open(call.body);
      return { name, key, keyId, accountId };
    },
  }),
  route('GET /spaces', {
    id: 'listSpaces',
    tag,
    summary: 'The names of the spaces that live',
    answer: z.array(z.object({ name: z.string() })),
    run: (call) => spacesOf(call).names.map((name) => ({ name })),
  }),
  route('DELETE /spaces/{space}', {
    id: 'closeSpace',
    tag,
    summary: 'End a space: its keys are unknown from then on',
    run: (call) => spacesOf(call).find(call.path.space).space.close(),
  }),
];

/** A space has no spaces. */
export function spacesOf({ spaces }: Pick<AdminTarget, 'spaces'>): Spaces {
  if (spaces !== undefined) return spaces;
  throw new Problem('A space has no spaces of its own.', { status: 404, code: 'not_found' });
}
