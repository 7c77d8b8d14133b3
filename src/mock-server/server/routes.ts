import * as z from 'zod';
import { presetOrChanges, type SwitchDescription, switchDescription } from '../behaviour/behaviour.ts';
import { clockMode, clockOptions, clockState, clockStep } from '../clock/clock.ts';
import { checkedInput, expected } from '../input/checked-input.ts';
import { audit, journalEntry, type RequestFilter, requestFilter } from '../journal/journal.ts';
import {
  type Claim,
  checkedClaim,
  checkedFilter,
  checkPatterns,
  claim,
  select,
  verifyRequests,
  type WaitOptions,
  waitForRequests,
  waitOptions,
} from '../journal/mock-journal.ts';
import { findSpace, openSpace, type SpaceOptions, spaceOptions } from '../mock/mock-methods.ts';
import { closeMock, type MockState } from '../mock/mock-state.ts';
import { setupKey, setupParts } from '../mock/options.ts';
import { snapshotSchema } from '../mock/snapshot.ts';
import { latestOptions } from '../rules/latest-rules.ts';
import { addedRule, ruleInput } from '../rules/rule-schema.ts';
import { account, accountOptions, newPlan } from '../service/accounts.ts';
import { createdKey, type KeyFilter, keyFilter, keySummary, keyUsage, listKeysSteps, newKey } from '../service/keys.ts';
import { type AdminCall, type AdminRoute, method, route } from './admin-server.ts';
import { openApi } from './openapi.ts';

const object = z.looseObject({});
/** The `data` of `latest`. */
const latestData = z.union([object, z.array(object)]);

const mostListed = expected('a whole number from 1 to 1000', z.int().min(1).max(1000))
  .default(100)
  .describe('Maximum number of requests.');
/** Conditions in the query of a URL. JSON is needed to match query, headers and body. */
const listQuery = requestFilter.omit({ query: true, headers: true, body: true }).extend({ limit: mostListed });

/** Each part has the schema of its own route. */
const setup = setupParts.extend({
  keys: z.array(setupKey).optional().describe('Keys to create, each with an account of its own.'),
  behaviour: presetOrChanges.optional(),
  rules: z.array(ruleInput).optional(),
});

const list = z.object({
  entries: z.array(journalEntry).describe('Oldest first.'),
  total: z.number().int().describe('Number of matching requests, regardless of the limit.'),
  dropped: z.number().int().describe('Number of older requests that were dropped, matching or not.'),
  journal: z.int().describe('Changes when the requests are removed, after which the numbers begin at 1 again.'),
  changes: z.number().int().describe('How often a request was added, or one of them was changed by its end.'),
});

const filtered = z.strictObject({ filter: requestFilter.optional().describe('Which requests; by default all.') });
const MOST_WAIT_MS = 240_000;
const wait = filtered.extend({
  ...waitOptions.shape,
  timeoutMs: expected('whole milliseconds from 0 to 240000', z.int().min(0).max(MOST_WAIT_MS))
    .default(10_000)
    .describe('Milliseconds, in real time. HTTP clients give up after some minutes: `fetch` of Node.js after 300,000.'),
});

const verification = claim
  .extend(filtered.shape)
  // Without a condition, the verification would always succeed.
  .refine(({ filter: _, ...conditions }) => Object.keys(conditions).length > 0, {
    error: 'count, atLeast, atMost or inOrder',
  })
  .refine(({ count, atLeast, atMost }) => count === undefined || (atLeast ?? atMost) === undefined, {
    error: 'either count, or atLeast and atMost',
  });

const space = z.object({
  name: z.string().describe('Its own routes are below `/__fxrates/spaces/{name}` of the same server.'),
  key: z
    .string()
    .describe('The full API key. It is returned only here. It selects the space at the base URL of the server.'),
  keyId: z.string(),
  accountId: z.string(),
});

/** The options of `mock.space()`, whose own error messages name the wrong part of clock and behaviour. */
const opening = spaceOptions.extend({
  clock: z.union([clockMode, clockOptions]).optional().describe('By default like the clock of the mock.'),
  behaviour: presetOrChanges.optional().describe('Switches that differ from those of the mock.'),
});

/** The whole admin API. */
export const adminRoutes: readonly AdminRoute[] = [
  route('GET /health', {
    id: 'health',
    summary: 'Check whether the mock is ready',
    isOpen: true,
    response: z.object({ status: z.literal('ok') }),
    run: () => ({ status: 'ok' }),
  }),
  route('GET /openapi.json', {
    id: 'openapi',
    tag: 'health',
    summary: 'Read the OpenAPI description of the admin API',
    response: z.looseObject({}),
    run: (): object => openApi(adminRoutes),
  }),
  method('GET /state', 'snapshot', { summary: 'Read the state as JSON without secrets', response: snapshotSchema }),
  method('PUT /state', 'restore', {
    summary: 'Restore a state of this mock, of another one, or of this space, and clear the journal',
    body: snapshotSchema,
  }),
  method('POST /reset', 'reset', {
    tag: 'state',
    summary: 'Restore the initial state: a space with its key, the mock with its setup; 409 while spaces are open',
  }),
  method('POST /setup', 'setUp', {
    tag: 'state',
    summary: 'Create keys, change switches, and add rules; if a part is invalid, nothing changes',
    body: setup,
    isText: true,
    response: z.object({ keys: z.array(createdKey) }),
  }),
  route('GET /clock', {
    id: 'getClock',
    summary: 'Read the clock',
    response: clockState,
    calls: { 'clock.now': { send: () => ({}), read: nowIn } },
    run: clockStateOf,
  }),
  route('POST /clock', {
    id: 'moveClock',
    summary: 'Advance, freeze or resume the clock; waits that end before the new time end in order',
    body: clockStep,
    response: clockState,
    calls: {
      'clock.advance': { send: (advanceMs: number) => ({ body: { advanceMs }, waitMs: MOST_WAIT_MS }), read: nowIn },
      'clock.advanceTo': { send: (advanceTo: unknown) => ({ body: { advanceTo }, waitMs: MOST_WAIT_MS }), read: nowIn },
      'clock.freeze': { send: () => ({ body: { frozen: true } }), read: () => undefined },
      'clock.resume': { send: () => ({ body: { frozen: false } }), read: () => undefined },
    },
    async run({ body, ...context }) {
      const { clock } = context.mock;
      if (body.advanceMs !== undefined) await clock.advance(body.advanceMs);
      if (body.advanceTo !== undefined) await clock.advanceTo(body.advanceTo);
      if (body.frozen === true) clock.freeze();
      if (body.frozen === false) clock.resume();
      return clockStateOf(context);
    },
  }),
  method('GET /behaviour', 'behaviour.describe', {
    summary: 'List the switches with value, default, alternatives, provenance and reason for the default',
    response: z.array(switchDescription),
    calls: { 'behaviour.values': { send: () => ({}), read: valuesIn } },
  }),
  method('PATCH /behaviour', 'behaviour.set', {
    summary: 'Change switches, after a preset if one is set, or apply a preset; nothing changes if one is invalid',
    body: presetOrChanges,
  }),
  method('GET /rules', 'rules.list', {
    summary: 'List the rules; of those that match a request, the last one counts',
    response: z.array(addedRule),
  }),
  method('POST /rules', 'rules.add', {
    summary: 'Add a rule, or replace the one with its `id`; rejected if an adapter in use cannot do what it asks',
    body: ruleInput,
    isText: true,
    response: addedRule,
  }),
  method('POST /rules/verify', 'expectAllUsed', {
    summary: 'Verify that each rule did something with a request; 422 with the others on failure',
  }),
  method('GET /rules/{ruleId}', 'rules.get', { summary: 'Read a rule', response: addedRule }),
  method('DELETE /rules/{ruleId}', 'rules.remove', { summary: 'Remove a rule' }),
  method('DELETE /rules', 'rules.clear', { summary: 'Remove all rules, including those of `PUT /latest`' }),
  method('PUT /latest', 'latest.set', {
    tag: 'rules',
    summary: 'Set the `data` of `latest`; numbers keep their digits, and an array has one element per request',
    query: latestOptions,
    body: latestData,
    isText: true,
  }),
  method('DELETE /latest', 'latest.reset', {
    tag: 'rules',
    summary: 'Remove the responses of `PUT /latest`, all or for one base',
    query: latestOptions,
  }),
  route('GET /requests', {
    id: 'listRequests',
    summary: 'List the newest requests with the reasons for their responses; with `after`, the oldest after it',
    query: listQuery,
    response: list,
    calls: { 'journal.dropped': { send: () => ({ query: { limit: 1 } }), read: ({ dropped }: Listed) => dropped } },
    run: ({ query, state }) => listRequests(state, query),
  }),
  route('POST /requests/find', {
    id: 'findRequests',
    summary: 'Find the newest requests that match a pattern; with `after`, the oldest ones after that number',
    body: filtered.extend({ limit: mostListed }),
    response: list,
    calls: {
      'journal.list': {
        send: ({ limit = 1000, ...filter }: RequestFilter & { readonly limit?: number } = {}) => ({
          body: { filter, limit },
        }),
        read: entriesIn,
      },
    },
    run: ({ state, body: { filter, limit } }) => listRequests(state, { ...filter, limit }),
  }),
  route('POST /requests/verify', {
    id: 'verifyRequests',
    summary: 'Verify number, content and order of requests; 422 with the closest requests on failure',
    body: verification,
    checksBody: true,
    response: z.object({ count: z.number().int().describe('Number of requests that the filter selects.') }),
    calls: {
      verifyRequests: {
        // Checked here too, because JSON has no undefined values.
        send: (filter: RequestFilter, given: Claim) => ({ body: { filter, ...checkedClaim(given) } }),
        read: () => undefined,
      },
    },
    *run({ state, body }) {
      checkPatterns(body);
      const { filter = {}, ...given } = checkedInput(verification, body, {
        what: 'a field of the body',
        whole: 'body',
      });
      return { count: yield* verifyRequests(state, filter, given) };
    },
  }),
  route('POST /requests/wait', {
    id: 'waitForRequests',
    summary: 'Wait until `count` requests match; 408 after `timeoutMs`, 410 when the mock or the space is closed',
    body: wait,
    response: list,
    calls: {
      'journal.waitFor': {
        send: (filter?: RequestFilter, options?: WaitOptions) => ({
          body: { filter, ...options },
          waitMs: wait.shape.timeoutMs.safeParse(options?.timeoutMs).data,
        }),
        read: entriesIn,
      },
    },
    async run({ state, body: { filter = {}, count, timeoutMs }, signal }) {
      const entries = await waitForRequests(state, { filter, count, timeoutMs, signal });
      const { dropped, changes, id } = state.journal;
      return { entries, total: entries.length, dropped, journal: id, changes };
    },
  }),
  method('DELETE /requests', 'journal.clear', { summary: 'Empty the journal' }),
  method('GET /audit', 'audit', {
    tag: 'requests',
    summary: 'List early retries, keys in URLs and unknown paths',
    response: audit,
  }),
  method('GET /accounts', 'accounts.list', { summary: 'List all accounts', response: z.array(account) }),
  method('POST /accounts', 'accounts.create', {
    summary: 'Create an account whose e-mail address is not confirmed',
    body: accountOptions,
    response: account,
  }),
  method('GET /accounts/{accountId}', 'accounts.get', { summary: 'Read an account', response: account }),
  method('POST /accounts/{accountId}/confirm', 'accounts.confirm', {
    summary: 'Confirm the e-mail address',
    response: account,
  }),
  route('PUT /accounts/{accountId}/plan', {
    id: 'accounts.setPlan',
    summary: 'Move the account and its keys to another plan',
    body: newPlan,
    response: account,
    calls: {
      'accounts.setPlan': { send: (accountId: string, plan: unknown) => ({ path: { accountId }, body: { plan } }) },
    },
    run: ({ mock, path, body }) => mock.accounts.setPlan(path['accountId'] ?? '', body.plan),
  }),
  route('POST /accounts/{accountId}/keys', {
    id: 'keys.create',
    summary: 'Create a key for this account, if its address is confirmed and its plan allows another key',
    response: createdKey,
    calls: { 'keys.create': { send: (path: { readonly accountId: string }) => ({ path }) } },
    run: ({ mock, path }) => mock.keys.create({ accountId: path['accountId'] ?? '' }),
  }),
  method('POST /keys', 'createKey', {
    summary: 'Create a confirmed account and a key in one step',
    body: newKey,
    response: createdKey,
  }),
  route('GET /keys', {
    id: 'keys.list',
    summary: 'List keys with their usage, oldest first',
    query: keyFilter,
    response: z.array(keySummary),
    calls: { 'keys.list': { send: (query: KeyFilter) => ({ query }) } },
    run: ({ state, query }) => listKeysSteps(state, query),
  }),
  method('GET /keys/{keyId}', 'keys.get', {
    summary: 'Read a key with its usage, and the wait until the next request is accepted',
    response: keySummary,
  }),
  method('DELETE /keys/{keyId}', 'keys.revoke', {
    summary: 'Revoke a key: its next request fails',
    response: keySummary,
  }),
  method('PUT /keys/{keyId}/usage', 'keys.setUsage', {
    summary: 'Set the number of requests counted in the current quota period, in the current minute, or in both',
    body: keyUsage,
    response: keySummary,
  }),
  route('POST /spaces', {
    id: 'openSpace',
    summary: 'Open a space: an account and a key with separate counters, clock, switches, rules and journal',
    body: opening,
    checksBody: true,
    response: space,
    calls: { openSpace: { send: (body: SpaceOptions) => ({ body }) } },
    run({ state, body }) {
      const { name, key, keyId, accountId } = openSpace(state, body as SpaceOptions); // which checks them
      return { name, key, keyId, accountId };
    },
  }),
  route('GET /spaces', {
    id: 'listSpaces',
    summary: 'List the names of the open spaces',
    response: z.array(z.string()),
    run: ({ state }) => Array.from(state.spaces.keys()),
  }),
  route('DELETE /spaces', {
    id: 'closeSpaces',
    summary: 'Close all spaces, for example those of a test run that was killed; lists the names of the closed spaces',
    response: z.array(z.string()),
    calls: { closeSpaces: { send: () => ({}) } },
    run({ state }) {
      const closed = Array.from(state.spaces.keys());
      for (const space of state.spaces.values()) closeMock(space);
      return closed;
    },
  }),
  route('DELETE /spaces/{space}', {
    id: 'closeSpace',
    summary: 'Close a space; its keys are then unknown',
    calls: { closeSpace: { send: (space: string) => ({ path: { space } }) } },
    run: ({ state, path }) => closeMock(findSpace(state, path['space'] ?? '')),
  }),
];

function clockStateOf({ mock: { clock } }: Pick<AdminCall<unknown, unknown>, 'mock'>) {
  const now = clock.now();
  return { mode: clock.mode, frozen: clock.isFrozen, now, iso: new Date(now).toISOString() };
}

function* listRequests(mock: MockState, { limit, ...filter }: RequestFilter & { readonly limit: number }) {
  const { journal } = mock;
  const { changes, id } = journal; // before the steps, between which the journal can change
  const all = journal.entries;
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  // The panel asks for the newest of all requests every second.
  const found = isFiltered ? yield* select(all, checkedFilter(filter, mock)) : all;
  // With a cursor the oldest that were not read yet, without one the newest.
  const entries = filter.after === undefined ? found.slice(-limit) : found.slice(0, limit);
  return { entries, total: found.length, dropped: journal.dropped, journal: id, changes };
}

type Listed = z.output<typeof list>;

function entriesIn({ entries }: Listed) {
  return entries;
}

function nowIn({ now }: z.output<typeof clockState>): number {
  return now;
}

function valuesIn(described: readonly SwitchDescription[]) {
  return Object.fromEntries(described.map(({ name, value }) => [name, value]));
}
