import * as z from 'zod';
import { SWITCH_NAMES, switches } from '../behaviour/switches.ts';
import { faultUnion } from '../faults/fault-kinds.ts';
import { requestPatternShape } from '../matching/request-pattern.ts';
import type { Snapshot } from '../service/snapshot.ts';
import { planName, sentResponse } from './shapes.ts';

const whole = z.number().int();
const window = z.array(z.number()).nullable();

const stub = z.strictObject({
  id: z.string(),
  match: z.strictObject(requestPatternShape),
  times: whole.nullable(),
  priority: whole.default(0),
  source: z.union([
    z.strictObject({ kind: z.literal('responses'), responses: z.array(sentResponse).min(1) }),
    z.strictObject({ kind: z.literal('replay'), recorded: z.record(z.string(), sentResponse) }),
  ]),
  served: whole,
});

const snapshotObject = z.strictObject({
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
      settings: faultUnion().refine(({ id, strikes }) => id !== undefined && strikes !== undefined),
      addedAt: z.number(),
      matched: whole,
      struck: whole,
      matchedByKey: z.record(z.string(), whole),
    }),
  ),
  lastFault: whole,
  lastSpace: whole,
  stubs: z.array(stub).default([]),
  lastStub: whole.default(0),
});

/**
 * A complete snapshot as JSON. It is strict, because an invalid snapshot would cause errors later. It checks the names
 * of switches and the kinds of faults; `checkedSnapshot` checks the values of the switches.
 */
export const snapshotShape = snapshotObject as unknown as z.ZodType<Snapshot, Snapshot>;

/** The snapshot, with its switches checked. Throws the mock's error for an invalid switch. */
export function checkedSnapshot(snapshot: Snapshot, fail: (field: string, expected: string) => Error): Snapshot {
  const { behaviour } = snapshot;
  for (const name of SWITCH_NAMES) {
    const { accepts, expected } = switches[name];
    if (!accepts(behaviour[name])) throw fail(`behaviour.${name}`, expected);
  }
  const unknown = Object.keys(behaviour).find((name) => !Object.hasOwn(switches, name));
  if (unknown !== undefined) throw fail(`behaviour.${unknown}`, 'a switch of this version');
  return snapshot;
}
