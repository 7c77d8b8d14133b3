import * as z from 'zod';
import { clockMode, clockOptions } from '../../clock/clock.ts';
import { closeCore, type MockCore } from '../../mock-core.ts';
import { findSpace, openSpace, type SpaceOptions, spaceOptions } from '../../spaces.ts';
import { route } from '../route.ts';
import { presetOrChanges } from '../shapes.ts';

const space = z.object({
  name: z.string(),
  key: z.string().describe('The full API key. It is returned only here.'),
  keyId: z.string(),
  accountId: z.string(),
});

/** The options of `mock.space()`, whose own error messages name the wrong part of clock and behaviour. */
const opening = spaceOptions.extend({
  clock: z.union([clockMode, clockOptions]).optional().describe('By default like the clock of the mock.'),
  behaviour: presetOrChanges.optional().describe('Switches that differ from those of the mock.'),
});

const spaceNames = z.array(z.object({ name: z.string() }));

export const spaceRoutes = [
  route('POST /spaces', {
    id: 'openSpace',
    summary: 'Open a space: an account and a key with separate counters, clock, switches, faults and journal',
    body: opening,
    checksBody: true,
    response: space,
    run({ core, body }) {
      const { name, key, keyId, accountId } = openSpace(core, body as SpaceOptions); // which checks them
      return { name, key, keyId, accountId };
    },
  }),
  route('GET /spaces', {
    id: 'listSpaces',
    summary: 'List the names of the open spaces',
    response: spaceNames,
    run: ({ core }) => namesOf(core),
  }),
  route('DELETE /spaces', {
    id: 'closeSpaces',
    summary: 'Close all spaces, for example those of a test run that was killed; lists the names of the closed spaces',
    response: spaceNames,
    run({ core }) {
      const closed = namesOf(core);
      for (const space of core.spaces.values()) closeCore(space);
      return closed;
    },
  }),
  route('DELETE /spaces/{space}', {
    id: 'closeSpace',
    summary: 'Close a space; its keys are then unknown',
    run: ({ core, path }) => closeCore(findSpace(core, path['space'] ?? '')),
  }),
];

function namesOf({ spaces }: MockCore) {
  return Array.from(spaces.keys(), (name) => ({ name }));
}
