import { accountSwitches } from './account-switches.ts';
import { authenticationSwitches } from './authentication-switches.ts';
import { httpSwitches } from './http-switches.ts';
import { quotaSwitches } from './quota-switches.ts';
import { rateSwitches } from './rate-switches.ts';

/** Every behaviour the service does not show, by name. What it documents has no switch. */
export const switches = {
  ...rateSwitches,
  ...quotaSwitches,
  ...authenticationSwitches,
  ...accountSwitches,
  ...httpSwitches,
} as const;

export type SwitchName = keyof typeof switches;

/** A value for every switch. */
export type BehaviourValues = { readonly [Name in SwitchName]: (typeof switches)[Name]['default'] };

export const SWITCH_NAMES = Object.keys(switches) as readonly SwitchName[];
