import * as z from 'zod';
import type { LatestData } from '../../stubs/mock-latest.ts';
import { type StubOptions, stubOptions } from '../../stubs/stub-options.ts';
import { route } from '../route.ts';

const tag = 'stubs';

const stub = z.object({
  id: z.string(),
  match: z.looseObject({}),
  served: z.number().int().describe('Number of requests answered.'),
  times: z.number().int().optional().describe('Maximum number of requests to answer.'),
  kind: z.enum(['answers', 'replay', 'function']),
  answers: z.array(
    z.object({
      status: z.number().int(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
      code: z.string().nullable(),
    }),
  ),
});

const body = stubOptions as unknown as z.ZodType<StubOptions, StubOptions>;
/** The mock itself names what is wrong better than a schema can. */
const checksBody = true;
const query = z.strictObject({ base: z.string().optional().describe('Only requests for this base.') });
const object = z.looseObject({});
const maxBodyBytes = 16 * 1024 * 1024;

export const stubRoutes = [
  route('GET /stubs', {
    id: 'listStubs',
    tag,
    summary: 'List the stubs that can still answer; of those that match a request, the last one answers',
    answer: z.array(stub),
    run: ({ mock }) => mock.stubs.list(),
  }),
  route('POST /stubs', {
    id: 'addStub',
    tag,
    summary: 'Add a stub: one answer, or several in turn, for matching requests',
    body,
    checksBody,
    answer: stub,
    run: ({ mock, body }) => mock.stubs.add(body),
  }),
  route('PUT /stubs/{stubId}', {
    id: 'putStub',
    tag,
    summary: 'Add or replace the stub with this id',
    body,
    checksBody,
    answer: stub,
    run: ({ mock, body, path }) => mock.stubs.add({ ...body, id: path.stubId }),
  }),
  route('DELETE /stubs/{stubId}', {
    id: 'removeStub',
    tag,
    summary: 'Remove a stub',
    run: ({ mock, path }) => mock.stubs.remove(path.stubId),
  }),
  route('DELETE /stubs', {
    id: 'clearStubs',
    tag,
    summary: 'Remove all stubs, including those of `PUT /latest`',
    run: ({ mock }) => mock.stubs.clear(),
  }),
  route('PUT /latest', {
    id: 'setLatest',
    tag,
    summary: 'Set the `data` of `latest`; numbers keep their digits, and an array has one element per request',
    query,
    body: z.union([object, z.array(object)]) as z.ZodType<unknown, Exclude<LatestData, (...given: never) => unknown>>,
    checksBody,
    maxBodyBytes,
    run: ({ mock, text, query }) => mock.latest.set(text, query),
  }),
  route('PUT /latest/replay', {
    id: 'replayLatest',
    tag,
    summary: 'Answer `latest` from a recording of `fxrates latest --fixture-out`',
    body: object as z.ZodType<unknown, string | Readonly<Record<string, unknown>>>,
    checksBody,
    maxBodyBytes,
    run: ({ mock, text }) => mock.latest.replay(text),
  }),
  route('DELETE /latest', {
    id: 'resetLatest',
    tag,
    summary: 'Remove the answers of `PUT /latest`, all or for one base',
    query,
    run: ({ mock, query }) => mock.latest.reset(query),
  }),
];
