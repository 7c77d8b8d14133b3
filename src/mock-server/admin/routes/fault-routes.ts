import * as z from 'zod';
import { type FaultOptions, faultUnion } from '../../faults/fault-kinds.ts';
import { route } from '../route.ts';

const tag = 'faults';
const fault = faultUnion({
  id: z.string(),
  addedAt: z.number(),
  matched: z.number().int(),
  struck: z.number().int(),
});

export const faultRoutes = [
  route('GET /faults', {
    id: 'listFaults',
    tag,
    summary: 'List the faults that have not expired, oldest first',
    answer: z.array(fault),
    run: ({ mock }) => mock.faults.list(),
  }),
  route('POST /faults', {
    id: 'addFault',
    tag,
    summary: 'Add a fault; rejected if an adapter in use cannot reproduce it',
    body: faultUnion() as unknown as z.ZodType<FaultOptions, FaultOptions>,
    // The mock's own error messages are more precise than those of the schema.
    checksBody: true,
    answer: fault,
    run: ({ mock, body }) => mock.faults.add(body),
  }),
  route('DELETE /faults/{faultId}', {
    id: 'removeFault',
    tag,
    summary: 'Remove a fault',
    run: ({ mock, path }) => mock.faults.remove(path.faultId),
  }),
  route('DELETE /faults', {
    id: 'clearFaults',
    tag,
    summary: 'Remove all faults',
    run: ({ mock }) => mock.faults.clear(),
  }),
];
