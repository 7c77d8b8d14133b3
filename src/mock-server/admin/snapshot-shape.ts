import * as z from 'zod';
import type { BehaviourValues } from '../behaviour/switches.ts';
import { SWITCH_NAMES, switches } from '../behaviour/switches.ts';
import type { Snapshot } from '../service/snapshot.ts';
import { faultOptions } from './fault-shapes.ts';
import { planName } from './shapes.ts';

const whole = z.number().int();
const window = z.array(z.number()).nullable();

/** A whole snapshot as JSON: strict, because a half right one would break the mock later. */
export const snapshotShape = z.strictObject({
  version: z.literal(1),
  now: z.number(),
  frozen: z.boolean(),
  behaviour: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .describe('A value for every switch.'),
  seed: whole,
  random: z.array(whole).length(4),
  lastAccount: whole,
  lastKey: whole,
  accounts: z.array(
    z.strictObject({
      id: z.string(),
      email: z.string(),
      createdAt: z.number(),
      plan: planName,
      isConfirmed: z.boolean(),
    }),
  ),
  keys: z.array(
    z.strictObject({
      id: z.string(),
      accountId: z.string(),
      hash: z.string().regex(/^[0-9a-f]{64}$/),
      prefix: z.string(),
      lastFour: z.string(),
      createdAt: z.number(),
      revokedAt: z.number().nullable(),
      usedFrom: z.number().nullable(),
      used: whole,
      window,
      quotaEndpointWindow: window,
      retryAt: z.number(),
    }),
  ),
  mails: z.array(
    z.strictObject({
      id: z.string(),
      accountId: z.string(),
      to: z.string(),
      token: z.string(),
      sentAt: z.number(),
      isUsed: z.boolean(),
    }),
  ),
  lastMail: whole,
  faults: z.array(
    z.strictObject({
      settings: faultOptions.refine(({ id, strikes }) => id !== undefined && strikes !== undefined),
      addedAt: z.number(),
      matched: whole,
      struck: whole,
      matchedByKey: z.record(z.string(), whole),
    }),
  ),
  lastFault: whole,
  lastSpace: whole,
});

/** The snapshot that was read, with its switches checked. Throws what the mock says of a wrong switch. */
export function checkedSnapshot(
  { behaviour, ...rest }: z.infer<typeof snapshotShape>,
  fail: (field: string, expected: string) => Error,
): Snapshot {
  for (const name of SWITCH_NAMES) {
    const { accepts, expected } = switches[name];
    if (!accepts(behaviour[name])) throw fail(`behaviour.${name}`, expected);
  }
  const unknown = Object.keys(behaviour).find((name) => !Object.hasOwn(switches, name));
  if (unknown !== undefined) throw fail(`behaviour.${unknown}`, 'a switch of this version');
  // The shape has looked at their kinds and settings.
  const faults = rest.faults as unknown as Snapshot['faults'];
  return { ...rest, faults, behaviour: behaviour as unknown as BehaviourValues };
}
