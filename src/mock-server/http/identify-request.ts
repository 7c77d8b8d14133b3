import type { JournalEntry } from '../journal/journal.ts';
import { hashOf } from '../service/keys.ts';
import type { ServiceContext } from '../service/service-state.ts';
import type { MockRequest } from './mock-message.ts';
import { presentedCredential } from './presented-credential.ts';
import { type RecordedRequest, readTarget, recordRequest } from './record-request.ts';
import type { FindRoute } from './router.ts';

/** What is known of a request by itself, without the service having decided anything about it. */
export interface RequestIdentity
  extends RecordedRequest,
    Pick<JournalEntry, 'at' | 'operation' | 'keyId' | 'keyTransport'> {}

/** For what answers in place of the service: handlers of `mock.use()`, and faults. */
export function createIdentify(context: ServiceContext, findRoute: FindRoute) {
  return (request: MockRequest): RequestIdentity => {
    const target = readTarget(request.target);
    const found = findRoute(request.method, target.path);
    const credential = presentedCredential(request, target.query, context.behaviour);
    const key = credential.kind === 'key' ? context.state.keysByHash.get(hashOf(credential.key)) : undefined;
    return {
      ...recordRequest(request),
      at: context.now(),
      operation: found.kind === 'unknown' ? undefined : found.operation.id,
      keyId: key?.id,
      keyTransport: credential.kind === 'key' ? credential.transport : undefined,
    };
  };
}
