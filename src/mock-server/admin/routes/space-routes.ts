import * as z from 'zod';
import type { BehaviourOptions } from '../../behaviour/behaviour-options.ts';
import { type AdminCall, route } from '../route.ts';
import { planName, spaceName } from '../shapes.ts';
import { spacesOf } from '../space-scope.ts';
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
  now: z.string().optional().describe('In ISO 8601.'),
  autoAdvance: z.boolean().optional(),
  frozen: z.boolean().optional(),
});

const opening = z.strictObject({
  name: spaceName.optional().describe('Decides the key. Letters, digits, `_` and `-`.'),
  plan: planName.optional(),
  clock: z.union([clock.shape.mode, clock]).optional().describe('Like the clock of the mock, unless told.'),
  behaviour: behaviourChanges.optional().describe('On top of the switches of the mock.'),
});

export const spaceRoutes = [
  route({
    id: 'openSpace',
    method: 'POST',
    path: '/spaces',
    tag,
    summary: 'An account and its key for one test, with counters, clock, switches, faults and journal of their own',
    body: opening,
    answer: space,
    run: openSpace,
  }),
  route({
    id: 'listSpaces',
    method: 'GET',
    path: '/spaces',
    tag,
    summary: 'The names of the spaces that live',
    answer: z.array(z.object({ name: z.string() })),
    run: (call) => spacesOf(call).names.map((name) => ({ name })),
  }),
  route({
    id: 'closeSpace',
    method: 'DELETE',
    path: '/spaces/{space}',
    tag,
    summary: 'End a space: its keys are unknown from then on',
    run: (call) =>
      spacesOf(call)
        .find(call.path['space'] ?? '')
        .space.close(),
  }),
];

function openSpace({ body: { behaviour, ...rest }, ...target }: AdminCall<z.infer<typeof opening>>) {
  // The switches are checked one by one where they are used.
  const options = { ...rest, behaviour: behaviour as BehaviourOptions | undefined };
  const { name, key, keyId, accountId } = spacesOf(target).open(options);
  return { name, key, keyId, accountId };
}
