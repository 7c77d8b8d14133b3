import type { Behaviour } from '../behaviour/behaviour.ts';
import type { JournalEntry } from '../journal/journal.ts';
import { keysInQuery } from '../redact-keys.ts';
import { hashOf } from '../service/keys.ts';
import type { ServiceContext } from '../service/service-state.ts';
import type { MockRequest } from './mock-message.ts';
import { describeRequest, type RecordedRequest, readTarget } from './record-request.ts';
import type { FindRoute } from './router.ts';

/** The properties of a request that do not depend on a decision of the service. */
export interface RequestIdentity
  extends RecordedRequest,
    Pick<JournalEntry, 'at' | 'operation' | 'keyId' | 'keyTransport'> {}

/** For faults, stubs and handlers of `mock.use()`. */
export function createIdentify(context: ServiceContext, findRoute: FindRoute) {
  return (request: MockRequest): RequestIdentity => {
    const target = readTarget(request.target);
    const found = findRoute(request.method, target.path);
    const credential = presentedCredential(request, target.query, context.behaviour);
    const key = credential.kind === 'key' ? context.state.keysByHash.get(hashOf(credential.key)) : undefined;
    return {
      ...describeRequest(request),
      at: context.now(),
      operation: found.kind === 'unknown' ? undefined : found.operation.id,
      keyId: key?.id,
      keyTransport: credential.kind === 'key' ? credential.transport : undefined,
    };
  };
}

/** The credential in a request. */
type PresentedCredential =
  | { readonly kind: 'missing' }
  /** More than one credential, which the switch refuses. */
  | { readonly kind: 'several' }
  | { readonly kind: 'key'; readonly key: string; readonly transport: 'bearer' | 'header' | 'query' };

/** Reads the three documented forms: `Bearer <key>`, the bare key, and `?api_key=<key>`. */
export function presentedCredential(
  { headers }: MockRequest,
  query: string,
  behaviour: Behaviour,
): PresentedCredential {
  const fromHeader = headerCredential(headers['authorization'] ?? '');
  const fromQuery = queryCredential(query);
  if (fromQuery === undefined) return fromHeader ?? { kind: 'missing' };
  if (fromHeader === undefined) return fromQuery;
  return { header: fromHeader, query: fromQuery, refused: { kind: 'several' } as const }[
    behaviour.use('severalCredentials')
  ];
}

/** All keys in a request, also if the service refuses more than one. */
export function presentedKeys({ headers }: MockRequest, query: string): readonly string[] {
  const inHeader = headerCredential(headers['authorization'] ?? '');
  const inQuery = queryCredential(query);
  const keys = inHeader === undefined ? [] : [inHeader.key];
  if (inQuery !== undefined) keys.push(inQuery.key);
  return keys;
}

type PresentedKey = Extract<PresentedCredential, { kind: 'key' }>;

function headerCredential(value: string): PresentedKey | undefined {
  if (PLAIN_BEARER.test(value)) return { kind: 'key', key: value.slice('Bearer '.length), transport: 'bearer' };
  const trimmed = value.trim();
  if (trimmed === '') return undefined;
  // The names of schemes ignore case (RFC 9110 §11.1).
  const scheme = /^bearer(?:[ \t]+|$)/i.exec(trimmed)?.[0];
  if (scheme === undefined) return { kind: 'key', key: trimmed, transport: 'header' };
  return { kind: 'key', key: trimmed.slice(scheme.length), transport: 'bearer' };
}

/** The form that nearly all clients send. */
const PLAIN_BEARER = /^Bearer [!-~]+$/;

function queryCredential(query: string): PresentedKey | undefined {
  const [key = ''] = keysInQuery(query);
  return key === '' ? undefined : { kind: 'key', key, transport: 'query' };
}
