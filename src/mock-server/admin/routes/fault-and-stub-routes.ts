import * as z from 'zod';
import { isJsonObject } from '../../../json-object.ts';
import { delaySchema } from '../../delay.ts';
import { type FaultOptions, faultInput, faultUnion } from '../../faults/fault-kinds.ts';
import { invalidOption } from '../../mock-server-error.ts';
import { withDigits } from '../../stubs/json-parts.ts';
import type { LatestData } from '../../stubs/mock-latest.ts';
import { type StubOptions, stubInput } from '../../stubs/stub-schemas.ts';
import { MAX_BODY_BYTES, route } from '../route.ts';
import { latestData, recording, valuesByName } from '../shapes.ts';

const fault = faultUnion({
  id: z.string(),
  addedAt: z.number().describe('Milliseconds since the Unix epoch, by the clock of the mock.'),
  matched: z.number().int().describe('Number of requests that it matched.'),
  struck: z.number().int().describe('Number of requests that it struck.'),
});

const faultBody = faultInput as unknown as z.ZodType<FaultOptions, FaultOptions>;
/** The mock's own error messages are more precise than those of the schema. */
const checksBody = true;

/** The stub or fault with the id of the path. The mock refuses another value than an object. */
function withId<Options extends StubOptions | FaultOptions>(options: Options, id: string): Options {
  if (!isJsonObject(options)) return options;
  if (options.id !== undefined && options.id !== id)
    throw invalidOption('id', options.id, 'the id of the path, or none');
  return { ...options, id };
}

export const faultRoutes = [
  route('GET /faults', {
    id: 'listFaults',
    tag: 'faults',
    summary: 'List the faults that have not expired, oldest first',
    response: z.array(fault),
    run: ({ mock }) => mock.faults.list(),
  }),
  route('POST /faults', {
    id: 'addFault',
    tag: 'faults',
    summary: 'Add a fault; rejected if an adapter in use cannot reproduce it',
    body: faultBody,
    checksBody,
    response: fault,
    run: ({ mock, body }) => mock.faults.add(body),
  }),
  route('GET /faults/{faultId}', {
    id: 'getFault',
    tag: 'faults',
    summary: 'Read a fault that has not expired',
    response: fault,
    run: ({ mock, path }) => mock.faults.get(path.faultId),
  }),
  route('PUT /faults/{faultId}', {
    id: 'putFault',
    tag: 'faults',
    summary: 'Add or replace the fault with this id',
    body: faultBody,
    checksBody,
    response: fault,
    run: ({ mock, body, path }) => mock.faults.add(withId(body, path.faultId)),
  }),
  route('DELETE /faults/{faultId}', {
    id: 'removeFault',
    tag: 'faults',
    summary: 'Remove a fault',
    run: ({ mock, path }) => mock.faults.remove(path.faultId),
  }),
  route('DELETE /faults', {
    id: 'clearFaults',
    tag: 'faults',
    summary: 'Remove all faults',
    run: ({ mock }) => mock.faults.clear(),
  }),
];

const stub = z.object({
  id: z.string(),
  match: z.looseObject({}),
  served: z.number().int().describe('Number of requests that received it.'),
  times: z.number().int().optional().describe('Maximum number of requests that receive it.'),
  priority: z.number().int(),
  kind: z.enum(['responses', 'replay', 'function']),
  responses: z.array(
    z.object({
      status: z.number().int(),
      headers: valuesByName.describe('Names in lower case, an array for `set-cookie`.'),
      body: z.string(),
      delayMs: delaySchema.optional(),
    }),
  ),
});

const body = stubInput as unknown as z.ZodType<StubOptions, StubOptions>;
const query = z.strictObject({ base: z.string().optional().describe('Only requests for this base.') });
const maxBodyBytes = MAX_BODY_BYTES.responses;

export const stubRoutes = [
  route('GET /stubs', {
    id: 'listStubs',
    tag: 'stubs',
    summary: 'List the active stubs by priority; of those that match a request, the last one applies',
    response: z.array(stub),
    run: ({ mock }) => mock.stubs.list(),
  }),
  route('POST /stubs', {
    id: 'addStub',
    tag: 'stubs',
    summary: 'Add a stub: one response, or several in turn, for matching requests',
    body,
    checksBody,
    maxBodyBytes,
    response: stub,
    run: ({ mock, body, text }) => mock.stubs.add(withDigits(body, text)),
  }),
  route('GET /stubs/{stubId}', {
    id: 'getStub',
    tag: 'stubs',
    summary: 'Read an active stub',
    response: stub,
    run: ({ mock, path }) => mock.stubs.get(path.stubId),
  }),
  route('PUT /stubs/{stubId}', {
    id: 'putStub',
    tag: 'stubs',
    summary: 'Add or replace the stub with this id',
    body,
    checksBody,
    maxBodyBytes,
    response: stub,
    run: ({ mock, body, path, text }) => mock.stubs.add(withId(withDigits(body, text), path.stubId)),
  }),
  route('DELETE /stubs/{stubId}', {
    id: 'removeStub',
    tag: 'stubs',
    summary: 'Remove a stub',
    run: ({ mock, path }) => mock.stubs.remove(path.stubId),
  }),
  route('DELETE /stubs', {
    id: 'clearStubs',
    tag: 'stubs',
    summary: 'Remove all stubs, including those of `PUT /latest`',
    run: ({ mock }) => mock.stubs.clear(),
  }),
  route('PUT /latest', {
    id: 'setLatest',
    tag: 'stubs',
    summary: 'Set the `data` of `latest`; numbers keep their digits, and an array has one element per request',
    query,
    body: latestData as z.ZodType<unknown, Exclude<LatestData, (...given: never) => unknown>>,
    checksBody,
    maxBodyBytes,
    run: ({ mock, text, query }) => mock.latest.set(text, query),
  }),
  route('PUT /latest/replay', {
    id: 'replayLatest',
    tag: 'stubs',
    summary: 'Respond to `latest` from a recording of `fxrates latest --fixture-out`',
    body: recording as z.ZodType<unknown, string | Readonly<Record<string, unknown>>>,
    checksBody,
    maxBodyBytes,
    run: ({ mock, text }) => mock.latest.replay(text),
  }),
  route('DELETE /latest', {
    id: 'resetLatest',
    tag: 'stubs',
    summary: 'Remove the responses of `PUT /latest`, all or for one base',
    query,
    run: ({ mock, query }) => mock.latest.reset(query),
  }),
];
