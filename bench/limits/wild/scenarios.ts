import { KNOWN_MISSES } from './known-misses.ts';
import { NETWORK_SCENARIOS } from './network-scenarios.ts';
import type { Scenario } from './scenario.ts';
import { SERVER_SCENARIOS } from './server-scenarios.ts';
import { TRAFFIC_SCENARIOS } from './traffic-scenarios.ts';

/** All scenarios; those of the table of known misses come first. */
export const SCENARIOS: readonly Scenario[] = [
  ...[...KNOWN_MISSES, ...SERVER_SCENARIOS],
  ...[...NETWORK_SCENARIOS, ...TRAFFIC_SCENARIOS],
];
