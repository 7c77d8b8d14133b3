import * as z from 'zod';
import { accountSwitches } from '../../behaviour/account-switches.ts';
import { authenticationSwitches } from '../../behaviour/authentication-switches.ts';
import type { BehaviourOptions } from '../../behaviour/behaviour.ts';
import { httpSwitches } from '../../behaviour/http-switches.ts';
import { quotaSwitches } from '../../behaviour/quota-switches.ts';
import { rateSwitches } from '../../behaviour/rate-switches.ts';
import { SWITCH_NAMES, switches } from '../../behaviour/switches.ts';
import { route } from '../route.ts';

const tag = 'behaviour';
const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const values = z.strictObject(
  Object.fromEntries(SWITCH_NAMES.map((name) => [name, value.describe(`${switches[name].expected}.`)])),
);
// The mock itself checks the values, and names the wrong one.
const someValues = values.partial();

const description = z.object({
  name: z.string(),
  group: z.string().describe('What it is about.'),
  value,
  default: value,
  alternatives: z.array(value),
  provenance: z.enum(['assumed', 'documented', 'observed']),
  notShown: z.string().optional().describe('What openapi.yaml of the service says is not shown.'),
  why: z.string(),
});

export const behaviourRoutes = [
  route({
    id: 'getBehaviour',
    method: 'GET',
    path: '/behaviour',
    tag,
    summary: 'The value of every switch',
    answer: values,
    run: ({ mock }) => mock.behaviour.values,
  }),
  route({
    id: 'changeBehaviour',
    method: 'PATCH',
    path: '/behaviour',
    tag,
    summary: 'Change some switches: all of those given or, when one is wrong, none',
    body: someValues,
    answer: values,
    run({ mock, body }) {
      mock.behaviour.set(body as BehaviourOptions);
      return mock.behaviour.values;
    },
  }),
  route({
    id: 'replaceBehaviour',
    method: 'PUT',
    path: '/behaviour',
    tag,
    summary: 'Change some switches and put all others to their defaults',
    body: someValues,
    answer: values,
    run({ mock, body }) {
      const defaults = mock.behaviour.describe().map(({ name, default: byDefault }) => [name, byDefault]);
      mock.behaviour.set({ ...Object.fromEntries(defaults), ...body });
      return mock.behaviour.values;
    },
  }),
  route({
    id: 'describeBehaviour',
    method: 'GET',
    path: '/behaviour/describe',
    tag,
    summary: 'Every switch with its value, default, alternatives, provenance, and why it exists',
    answer: z.array(description),
    run: ({ mock }) => mock.behaviour.describe().map((known) => ({ ...known, group: groupOf(known.name) })),
  }),
  route({
    id: 'usedBehaviour',
    method: 'GET',
    path: '/behaviour/used',
    tag,
    summary: 'The switches that answers in the journal depend on',
    answer: z.array(z.string()),
    run: ({ journal }) => Array.from(new Set(journal.entries.flatMap(({ switches: used }) => used))).sort(),
  }),
];

const GROUPS = {
  'Per-minute limit': rateSwitches,
  'Monthly quota': quotaSwitches,
  Authentication: authenticationSwitches,
  'Accounts and keys': accountSwitches,
  HTTP: httpSwitches,
};

function groupOf(name: string): string {
  const found = Object.entries(GROUPS).find(([, group]) => Object.hasOwn(group, name));
  return found?.[0] ?? 'Other';
}
