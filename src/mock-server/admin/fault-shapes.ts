import * as z from 'zod';
import { ADAPTER_NAMES } from '../adapters/active-adapters.ts';
import { FAULT_KINDS, type FaultSetting, faultKinds } from '../faults/fault-kinds.ts';

const adapter = z.enum(ADAPTER_NAMES as unknown as ['fetch', ...string[]]);
const several = <Shape extends z.ZodType>(shape: Shape) => z.union([shape, z.array(shape)]);

const match = z
  .strictObject({
    operation: z.string().optional(),
    keyId: z.string().optional(),
    path: z.string().optional().describe('The whole path; `*` stands for anything.'),
    method: z.string().optional(),
    status: z.number().int().optional().describe('The status that the service has decided on.'),
    via: several(adapter).optional().describe('Requests of this adapter, or one of these.'),
  })
  .describe('Which requests; all of the emulated API by default.');

const conditions = {
  id: z.string().optional(),
  match: match.optional(),
  nth: several(z.number()).optional().describe('Which of the matching requests, counted from 1.'),
  times: z.number().optional().describe('How often at most.'),
  probability: z.number().optional().describe('From 0 to 1; the seed decides.'),
  forMs: z.number().optional().describe('How long the fault lives, by the clock of the mock.'),
  strikes: z
    .enum(['before', 'after'])
    .optional()
    .describe('Before or, by default, after the service has decided on the request and counted it.'),
};

const counted = { id: z.string(), addedAt: z.number(), matched: z.number().int(), struck: z.number().int() };

const SHAPES: Readonly<Record<FaultSetting['type'], z.ZodType>> = {
  number: z.number(),
  text: z.string(),
  headers: z.record(z.string(), z.string()),
};

/** What is added; the mock itself checks the values, and names the wrong one. */
export const faultOptions = z.discriminatedUnion('kind', kinds({}));
export const fault = z.discriminatedUnion('kind', kinds(counted));

function kinds(more: Readonly<Record<string, z.ZodType>>) {
  const [first, ...others] = FAULT_KINDS.map((kind) =>
    z.strictObject({ kind: z.literal(kind), ...settingsOf(faultKinds[kind].settings), ...conditions, ...more }),
  );
  if (first === undefined) throw new Error('There are no kinds of faults.');
  return [first, ...others] as const;
}

function settingsOf(settings: Readonly<Record<string, FaultSetting>>): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, { type, expected, isRequired = false }]) => {
      const shape = SHAPES[type].describe(`${expected[0]?.toUpperCase()}${expected.slice(1)}.`);
      return [name, isRequired ? shape : shape.optional()];
    }),
  );
}
