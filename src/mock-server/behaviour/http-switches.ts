import { enumSwitch } from './switch.ts';

/** What is not shown about requests outside the two documented ones. */
export const httpSwitches = {
  unknownRoute: enumSwitch(['404 before authentication', '404 after authentication'], {
    notShown: 'other-endpoints',
    why: 'Whether an unknown path asks for a key, and counts in the minute, is not shown. It never uses quota.',
  }),
  methodNotAllowed: enumSwitch(['405 method_not_allowed', '404 not_found'], {
    notShown: 'error-codes',
    why: 'Only GET is shown; the answer to another method is not.',
  }),
  headRequests: enumSwitch(['like-get', 'refused'], {
    notShown: 'other-endpoints',
    why: 'HEAD is not shown; RFC 9110 §9.1 wants it wherever GET is. It counts as the GET would.',
  }),
  optionsRequests: enumSwitch(['refused', 'allow-header'], {
    notShown: 'other-endpoints',
    why: 'OPTIONS is not shown, and the service is not meant for browsers.',
  }),
  badParameter: enumSwitch(['400 invalid_parameter', '422 invalid_parameter', 'ignored'], {
    notShown: 'latest-parameters',
    why: 'The answer to a parameter that cannot be is not shown.',
  }),
} as const;
