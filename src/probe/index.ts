export { type ProbeOptions, probeService } from './probe.ts';
export type { ObservedBehaviour, ProbeFetch, ProbeSummary } from './prober.ts';
