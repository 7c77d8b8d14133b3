import { apiKeyPattern } from '../../generated/service.ts';
import type { BehaviourValues } from '../behaviour/switches.ts';
import { keysAboveCap } from './accounts.ts';
import { hashOf } from './keys.ts';
import type { KeyRecord, ServiceContext } from './service-state.ts';

/** A valid key, or the switch that defines how its request is refused. */
export type Authentication =
  | { readonly key: KeyRecord; readonly refusedBy?: never }
  | { readonly key?: KeyRecord; readonly refusedBy: AuthenticationSwitch; readonly why: string };

type AuthenticationSwitch = Extract<keyof BehaviourValues, 'missingKey' | 'malformedKey' | 'unknownKey' | 'revokedKey'>;

/** Finds a key by its hash. `undefined` is a request without a key. */
export function authenticateKey(context: ServiceContext, presented: string | undefined, at: number): Authentication {
  if (presented === undefined) return { refusedBy: 'missingKey', why: 'the request has no API key' };
  const key = context.state.keysByHash.get(hashOf(presented));
  if (key === undefined) return unknownKey(presented);
  if (isRevoked(context, key, at)) return { key, refusedBy: 'revokedKey', why: `${key.id} is revoked` };
  if (isBlocked(context, key)) {
    return { key, refusedBy: 'revokedKey', why: `${key.id} is above the cap of the ${key.account.plan} plan` };
  }
  return { key };
}

function unknownKey(presented: string): Authentication {
  return API_KEY.test(presented)
    ? { refusedBy: 'unknownKey', why: 'this mock never created this key' }
    : { refusedBy: 'malformedKey', why: 'the credential does not look like an API key' };
}

const API_KEY = new RegExp(apiKeyPattern);

function isRevoked({ behaviour }: ServiceContext, { revokedAt }: KeyRecord, at: number): boolean {
  return revokedAt !== undefined && at >= revokedAt + behaviour.use('revocationDelayMs');
}

function isBlocked({ behaviour }: ServiceContext, key: KeyRecord): boolean {
  const above = keysAboveCap(key.account, behaviour);
  return above.includes(key) && behaviour.use('overCapKeys') === 'block';
}
