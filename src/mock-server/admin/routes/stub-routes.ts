import * as z from 'zod';
import type { LatestData } from '../../stubs/mock-latest.ts';
import { type StubOptions, stubOptions } from '../../stubs/stub-options.ts';
import { route } from '../route.ts';

const tag = 'stubs';

const stub = z.object({
  id: z.string(),
  match: z.looseObject({}),
  served: z.number().int().describe('How many requests it has answered.'),
  times: z.number().int().optional().describe('How many it answers.'),
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
    summary: 'The stubs that can still answer; of those that match a request the last one answers',
    answer: z.array(stub),
    run: ({ mock }) => mock.stubs.list(),
  }),
  route('POST /stubs', {
    id: 'addStub',
    tag,
    summary: 'Answer matching requests with a status, headers and a body, or with several in turn',
    body,
    checksBody,
    answer: stub,
    run: ({ mock, body }) => mock.stubs.add(body),
  }),
  route('PUT /stubs/{stubId}', {
    id: 'putStub',
    tag,
    summary: 'The same under a name; replaces an older stub of this name',
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
    summary: 'Remove all stubs, also those of `PUT /latest`',
    run: ({ mock }) => mock.stubs.clear(),
  }),
  route('PUT /latest', {
    id: 'setLatest',
    tag,
    summary: 'The `data` that `latest` answers, with its digits as they are; an array is a sequence, one per request',
    query,
    body: z.union([object, z.array(object)]) as z.ZodType<unknown, Exclude<LatestData, (...given: never) => unknown>>,
    checksBody,
    maxBodyBytes,
    run: ({ mock, text, query }) => mock.latest.set(text, query),
  }),
  route('PUT /latest/replay', {
    id: 'replayLatest',
    tag,
    summary: 'Answer `latest` from a recording, as `fxrates latest --fixture-out` writes it',
    body: object as z.ZodType<unknown, string | Readonly<Record<string, unknown>>>,
    checksBody,
    maxBodyBytes,
    run: ({ mock, text }) => mock.latest.replay(text),
  }),
  route('DELETE /latest', {
    id: 'resetLatest',
    tag,
    summary: 'Take back what `PUT /latest` has set, all or for one base',
    query,
    run: ({ mock, query }) => mock.latest.reset(query),
  }),
];
