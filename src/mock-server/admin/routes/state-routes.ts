import * as z from 'zod';
import type { Snapshot } from '../../service/snapshot.ts';
import { Problem } from '../problem.ts';
import { type AdminContext, route } from '../route.ts';
import { checkedSnapshot, snapshotShape } from '../snapshot-shape.ts';

const tag = 'state';
const snapshotId = z.object({ id: z.string() });

export const stateRoutes = [
  route({
    id: 'getState',
    method: 'GET',
    path: '/state',
    tag,
    summary: 'Everything the mock knows, as JSON without secrets',
    answer: snapshotShape,
    run: ({ mock }) => mock.snapshot(),
  }),
  route({
    id: 'putState',
    method: 'PUT',
    path: '/state',
    tag,
    summary: 'Go back to a state, of this mock or another; the journal begins anew',
    body: snapshotShape,
    maxBodyBytes: 256 * 1024 * 1024,
    run: ({ mock, body }) => mock.restore(checkedSnapshot(body, wrongField)),
  }),
  route({
    id: 'reset',
    method: 'POST',
    path: '/reset',
    tag,
    summary: 'Go back to the moment the mock was made',
    body: z.strictObject({}),
    run: ({ mock }) => mock.reset(),
  }),
  route({
    id: 'takeSnapshot',
    method: 'POST',
    path: '/snapshots',
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
    run: ({ mock, snapshots, body }) => keep(snapshots, body.id, mock.snapshot()),
  }),
  route({
    id: 'listSnapshots',
    method: 'GET',
    path: '/snapshots',
    tag,
    summary: 'The names of the snapshots that are kept',
    answer: z.array(snapshotId),
    run: ({ snapshots }) => Array.from(snapshots.keys(), (id) => ({ id })),
  }),
  route({
    id: 'restoreSnapshot',
    method: 'POST',
    path: '/snapshots/{snapshotId}/restore',
    tag,
    summary: 'Go back to a snapshot that is kept',
    run: ({ mock, path, snapshots }) => mock.restore(find(snapshots, path['snapshotId'] ?? '')),
  }),
  route({
    id: 'deleteSnapshot',
    method: 'DELETE',
    path: '/snapshots/{snapshotId}',
    tag,
    summary: 'Forget a snapshot',
    run({ path, snapshots }) {
      find(snapshots, path['snapshotId'] ?? '');
      snapshots.delete(path['snapshotId'] ?? '');
    },
  }),
];

type Snapshots = AdminContext['snapshots'];

function keep(snapshots: Snapshots, name: string | undefined, snapshot: Snapshot) {
  const id = name ?? nextName(snapshots);
  if (!snapshots.has(id) && snapshots.size >= MOST_SNAPSHOTS) {
    const text = `There are ${MOST_SNAPSHOTS} snapshots already; delete one first.`;
    throw new Problem(text, { status: 409, code: 'too_many_snapshots' });
  }
  snapshots.set(id, snapshot);
  return { id };
}

const MOST_SNAPSHOTS = 100;

function nextName(snapshots: Snapshots): string {
  let number = snapshots.size + 1;
  while (snapshots.has(`snapshot_${number}`)) number += 1;
  return `snapshot_${number}`;
}

function find(snapshots: Snapshots, id: string): Snapshot {
  const snapshot = snapshots.get(id);
  if (snapshot !== undefined) return snapshot;
  throw new Problem(`There is no snapshot ${id}.`, { status: 404, code: 'not_found', field: 'snapshotId' });
}

function wrongField(field: string, expected: string): Problem {
  return new Problem(`${field} must be ${expected}.`, { status: 400, code: 'invalid_field', field });
}
