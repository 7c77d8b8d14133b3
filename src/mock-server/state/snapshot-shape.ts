import * as z from 'zod';
import { type PlanName, plans } from '../../generated/service.ts';
import { Behaviour } from '../behaviour/behaviour.ts';
import { SWITCH_NAMES } from '../behaviour/switches.ts';
import { LATEST_MS } from '../clock/clock.ts';
import { faultUnion } from '../faults/fault-kinds.ts';
import { MockServerError, show } from '../mock-server-error.ts';
import type { Snapshot } from '../service/snapshot.ts';
import { savedStub } from '../stubs/stub-schemas.ts';

export const planName = z.enum(Object.keys(plans) as [PlanName, ...PlanName[]]).describe('Name of the plan.');

/**
 * A copy of a snapshot, with the default of each switch that it lacks. Throws `MockServerError` with code `invalid_snapshot`
 * for a damaged one, because it would cause errors later, and for switches that a mock with `behaviour` does not accept.
 */
export function checkedSnapshot(snapshot: unknown, behaviour = new Behaviour({}, { unsafe: true })): Snapshot {
  const { version } = (snapshot ?? {}) as { readonly version?: unknown };
  if (version !== 1) {
    throw invalid(
      `The snapshot has version ${show(version)}; expected version 1, as mock.snapshot() returns it.`,
      'version',
    );
  }
  const { data, error } = snapshotShape().safeParse(snapshot);
  if (error !== undefined) throw damaged(error);
  checkIds(data);
  return { ...data, behaviour: checkedSwitches(data.behaviour, behaviour) };
}

/** Ids and keys are unique. A counter below the number of an id would create a second record with that id. */
function checkIds({ accounts, keys, mails, ...last }: Snapshot): void {
  checkUnique(
    'keys.hash',
    keys.map(({ hash }) => hash),
  );
  for (const [counter, records] of [
    ['lastAccount', accounts],
    ['lastKey', keys],
    ['lastMail', mails],
  ] as const) {
    checkUnique(
      `${counter.slice(4).toLowerCase()}s.id`,
      records.map(({ id }) => id),
    );
    const later = records.find(({ id }) => Number(/_(\d+)$/.exec(id)?.[1] ?? 0) > last[counter]);
    if (later === undefined) continue;
    throw invalid(`snapshot.${counter} is ${last[counter]}; expected at least the number of ${later.id}.`, counter);
  }
}

function checkUnique(field: string, values: readonly string[]): void {
  const seen = new Set<string>();
  const twice = values.find((value) => seen.has(value) || !seen.add(value));
  if (twice !== undefined) throw invalid(`snapshot.${field} has ${show(twice)} twice; expected it once.`, field);
}

function damaged({ issues: [issue] }: z.ZodError): MockServerError {
  const names = issue?.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : (issue?.path ?? []);
  const field = names.map(String).join('.');
  return invalid(`snapshot.${field}: ${issue?.message}.`, field);
}

function checkedSwitches(values: Snapshot['behaviour'], behaviour: Behaviour): Snapshot['behaviour'] {
  try {
    return behaviour.checkedValues(values);
  } catch (error) {
    if (!(error instanceof MockServerError)) throw error;
    throw invalid(`snapshot.${error.message}`, error.field);
  }
}

function invalid(message: string, field: string | undefined): MockServerError {
  return new MockServerError(message, { code: 'invalid_snapshot', field });
}

/** A complete snapshot as JSON. Created on first use, because most processes restore none. */
export function snapshotShape(): z.ZodType<Snapshot, Snapshot> {
  shape ??= createShape();
  return shape;
}

let shape: z.ZodType<Snapshot, Snapshot> | undefined;

function createShape(): z.ZodType<Snapshot, Snapshot> {
  const { fault, ...service } = { ...serviceShapes(), ...responseShapes() };
  const snapshot = z.strictObject({
    version: z.literal(1),
    now: z.number().min(0).max(LATEST_MS),
    frozen: z.boolean(),
    behaviour: z
      .partialRecord(z.enum(SWITCH_NAMES), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .describe('The value of each switch. A switch that is absent has its default.'),
    seed: WHOLE,
    random: z.array(WHOLE).length(4),
    lastAccount: COUNT,
    lastKey: COUNT,
    accounts: z.array(service.account),
    keys: z.array(service.key),
    mails: z.array(service.mail),
    lastMail: COUNT,
    faults: z.array(fault),
    lastFault: COUNT,
    lastSpace: COUNT,
    stubs: z.array(savedStub).default([]),
    lastStub: COUNT.default(0),
  });
  return snapshot as unknown as z.ZodType<Snapshot, Snapshot>;
}

const WHOLE = z.number().int();
const COUNT = WHOLE.min(0);

function serviceShapes() {
  const text = z.string();
  const window = z.array(z.number()).nullable();
  return {
    account: z.strictObject({
      id: text,
      email: text,
      createdAt: z.number(),
      plan: planName,
      isConfirmed: z.boolean(),
    }),
    key: z.strictObject({
      id: text,
      accountId: text,
      hash: text.regex(/^[0-9a-f]{64}$/),
      prefix: text,
      lastFour: text,
      createdAt: z.number(),
      revokedAt: z.number().nullable(),
      usedFrom: z.number().nullable(),
      used: COUNT,
      window,
      quotaEndpointWindow: window,
      retryAt: z.number(),
    }),
    // Snapshots of earlier versions also have the token of a link.
    mail: z.object({ id: text, accountId: text, to: text, sentAt: z.number() }),
  };
}

function responseShapes() {
  return {
    fault: z.strictObject({
      settings: faultUnion().refine(({ id, strikes }) => id !== undefined && strikes !== undefined),
      addedAt: z.number(),
      matched: COUNT,
      struck: COUNT,
      matchedByKey: z.record(z.string(), COUNT),
    }),
  };
}
