import { documented, enumSwitch, numberSwitch } from './switch.ts';

const REFUSALS = ['401 unauthorized', '403 forbidden', '401 invalid_api_key', '403 invalid_api_key'] as const;

/** What is not shown about authentication. */
export const authenticationSwitches = {
  missingKey: enumSwitch([...REFUSALS, '401 missing_api_key'], {
    notShown: 'authentication-failure',
    why: 'Status and code for a missing key are not shown.',
  }),
  malformedKey: enumSwitch([...REFUSALS, '400 invalid_api_key'], {
    notShown: 'authentication-failure',
    why: 'Status and code for a malformed key are not shown.',
  }),
  unknownKey: enumSwitch(REFUSALS, {
    notShown: 'authentication-failure',
    why: 'Status and code for a key that was never given out are not shown.',
  }),
  revokedKey: enumSwitch([...REFUSALS, '401 key_revoked', '403 key_revoked'], {
    notShown: 'authentication-failure',
    why: 'That a revoked key fails is documented; with which status and code is not shown.',
  }),
  severalCredentials: enumSwitch(['header', 'query', 'refused'], {
    notShown: 'several-credentials',
    why: 'Which one counts is not shown; the header is the preferred form. Refused answers as a malformed key.',
  }),
  wwwAuthenticate: enumSwitch(['bearer', 'absent'], {
    notShown: 'authentication-failure',
    why: 'RFC 9110 §11.6.1 wants the header on every 401; not every service sends it.',
  }),
  revocationDelayMs: documented(
    numberSwitch([0, 60_000], {
      min: 0,
      notShown: 'authentication-failure',
      why: 'Documented: the next request of a revoked key fails. A delay shows what a cache in the service would do.',
    }),
  ),
} as const;
