export { type ProbeOptions, type ProbePlan, planProbe, probeService } from './probe.ts';
export type { ObservedBehaviour, ProbeFetch, ProbeSummary } from './prober.ts';
