import * as z from 'zod';
import { Problem } from '../problem.ts';
import { route } from '../route.ts';
import { checkedSnapshot, snapshotShape } from '../snapshot-shape.ts';

const tag = 'state';
const snapshotId = z.object({ id: z.string() });

export const stateRoutes = [
  route('GET /state', {
    id: 'getState',
    tag,
    summary: 'Everything the mock knows, as JSON without secrets',
    answer: snapshotShape,
    run: ({ mock }) => mock.snapshot(),
  }),
  route('PUT /state', {
    id: 'putState',
    tag,
    summary: 'Go back to a state, of this mock or another; the journal begins anew',
    body: snapshotShape,
    maxBodyBytes: 256 * 1024 * 1024,
    run: ({ mock, body }) => mock.restore(checkedSnapshot(body, wrongField)),
  }),
  route('POST /reset', {
    id: 'reset',
    tag,
    summary: 'Go back to the moment the mock, or the space, was made; 409 while spaces live',
    body: z.strictObject({}),
    run: ({ mock }) => mock.reset(),
  }),
  route('POST /snapshots', {
    id: 'takeSnapshot',
    tag,
    summary: 'Keep the state of now under a name',
    body: z.strictObject({
      id: z
        .string()
        .regex(/^[\w-]{1,64}$/)
        .optional()
        .describe('Letters, digits, `_` and `-`; an older one of this name is replaced.'),
    }),
    answer: snapshotId,
    run: ({ mock, body }) => ({ id: mock.snapshots.save(body.id) }),
  }),
  route('GET /snapshots', {
    id: 'listSnapshots',
    tag,
    summary: 'The names of the snapshots that are kept',
    answer: z.array(snapshotId),
    run: ({ mock }) => mock.snapshots.list().map((id) => ({ id })),
  }),
  route('POST /snapshots/{snapshotId}/restore', {
    id: 'restoreSnapshot',
    tag,
    summary: 'Go back to a snapshot that is kept',
    run: ({ mock, path }) => mock.snapshots.restore(path.snapshotId),
  }),
  route('DELETE /snapshots/{snapshotId}', {
    id: 'deleteSnapshot',
    tag,
    summary: 'Forget a snapshot',
    run: ({ mock, path }) => mock.snapshots.delete(path.snapshotId),
  }),
];

function wrongField(field: string, expected: string): Problem {
  return new Problem(`${field} must be ${expected}.`, { status: 400, code: 'invalid_field', field });
}
