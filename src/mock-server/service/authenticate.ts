import type { Switches } from '../behaviour/behaviour.ts';
import type { BehaviourValues } from '../behaviour/switches.ts';
import type { Credential } from '../http/parse-request.ts';
import { keysAboveCap } from './accounts.ts';
import type { KeyRecord, ServiceState } from './service-state.ts';

/** A valid key, or the switch that defines how its request is refused. */
export type Authentication =
  | { readonly key: KeyRecord; readonly refusedBy?: never }
  | { readonly key?: KeyRecord | undefined; readonly refusedBy: AuthenticationSwitch; readonly why: string };

type AuthenticationSwitch = Extract<keyof BehaviourValues, 'missingKey' | 'malformedKey' | 'unknownKey' | 'revokedKey'>;

/** Chooses the credential of a request. `'several'`: the switch refuses a request with more than one. */
export function chosenCredential(
  [first, second]: readonly Credential[],
  behaviour: Switches,
): Credential | 'several' | undefined {
  if (first === undefined || second === undefined) return first;
  return { header: first, query: second, refused: 'several' as const }[behaviour.use('severalCredentials')];
}

/** Finds the key of a credential by its hash. */
export function authenticateKey(
  state: ServiceState,
  credential: Credential | 'several' | undefined,
  { behaviour, at }: { readonly behaviour: Switches; readonly at: number },
): Authentication {
  if (credential === undefined) return { refusedBy: 'missingKey', why: 'the request has no API key' };
  if (credential === 'several') {
    return { refusedBy: 'malformedKey', why: 'the request has more than one credential' };
  }
  const key = state.keysByHash.get(credential.hash);
  if (key === undefined) return unknownKey(credential);
  if (key.revokedAt !== undefined && at >= key.revokedAt + behaviour.use('revocationDelayMs')) {
    return { key, refusedBy: 'revokedKey', why: `${key.id} is revoked` };
  }
  if (keysAboveCap(key.account, behaviour).includes(key) && behaviour.use('overCapKeys') === 'block') {
    return { key, refusedBy: 'revokedKey', why: `${key.id} is above the cap of the ${key.account.plan} plan` };
  }
  return { key };
}

function unknownKey({ isWellFormed }: Credential): Authentication {
  return isWellFormed
    ? { refusedBy: 'unknownKey', why: 'this mock never created this key' }
    : { refusedBy: 'malformedKey', why: 'the credential does not look like an API key' };
}
