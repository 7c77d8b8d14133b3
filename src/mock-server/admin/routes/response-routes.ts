import * as z from 'zod';
import { switchDescription } from '../../behaviour/behaviour.ts';
import { faultInput, faultUnion } from '../../faults/fault-kinds.ts';
import { latestOptions } from '../../stubs/mock-stubs.ts';
import { addedStub, stubInput } from '../../stubs/stub-schemas.ts';
import { method } from '../route.ts';
import { behaviourChanges, latestData, recording } from '../shapes.ts';

const fault = faultUnion({
  id: z.string(),
  addedAt: z.number().describe('Milliseconds since the Unix epoch, by the clock of the mock.'),
  matched: z.number().int().describe('Number of requests that it matched.'),
  struck: z.number().int().describe('Number of requests that it struck.'),
});

/** The mock's own error messages are more precise than those of the schema. */
const checksBody = true;

/** What the mock responds: switches, faults and stubs. */
export const responseRoutes = [
  method('GET /behaviour', 'behaviour.describe', {
    summary: 'List the switches with value, default, alternatives, provenance and reason for the default',
    response: z.array(switchDescription),
  }),
  method('PATCH /behaviour', 'behaviour.set', {
    summary: 'Change switches, after a preset if one is set; if one value is invalid, nothing changes',
    body: behaviourChanges,
  }),
  method('GET /faults', 'faults.list', {
    summary: 'List the faults that have not expired, oldest first',
    response: z.array(fault),
  }),
  method('POST /faults', 'faults.add', {
    summary: 'Add a fault, or replace the one with its `id`; rejected if an adapter in use cannot reproduce it',
    body: faultInput,
    checksBody,
    response: fault,
  }),
  method('GET /faults/{faultId}', 'faults.get', { summary: 'Read a fault that has not expired', response: fault }),
  method('DELETE /faults/{faultId}', 'faults.remove', { summary: 'Remove a fault' }),
  method('DELETE /faults', 'faults.clear', { summary: 'Remove all faults' }),
  method('GET /stubs', 'stubs.list', {
    summary: 'List the active stubs by priority; of those that match a request, the last one applies',
    response: z.array(addedStub),
  }),
  method('POST /stubs', 'stubs.add', {
    summary: 'Add a stub, or replace the one with its `id`: one response, or several in turn, for matching requests',
    takes: ['text'],
    body: stubInput,
    checksBody,
    response: addedStub,
  }),
  method('GET /stubs/{stubId}', 'stubs.get', { summary: 'Read an active stub', response: addedStub }),
  method('DELETE /stubs/{stubId}', 'stubs.remove', { summary: 'Remove a stub' }),
  method('DELETE /stubs', 'stubs.clear', { summary: 'Remove all stubs, including those of `PUT /latest`' }),
  method('PUT /latest', 'latest.set', {
    tag: 'stubs',
    summary: 'Set the `data` of `latest`; numbers keep their digits, and an array has one element per request',
    takes: ['text', 'query'],
    query: latestOptions,
    body: latestData,
    checksBody,
  }),
  method('PUT /latest/replay', 'latest.replay', {
    tag: 'stubs',
    summary: 'Respond to `latest` from a recording of `fxrates latest --fixture-out`',
    takes: ['text'],
    body: recording,
    checksBody,
  }),
  method('DELETE /latest', 'latest.reset', {
    tag: 'stubs',
    summary: 'Remove the responses of `PUT /latest`, all or for one base',
    query: latestOptions,
  }),
];
