import { table } from '../../table.ts';
import { isComparable, ratioOf } from './goals.ts';
import { PEERS, runPeer } from './peers.ts';
import { type Outcome, runScenario } from './run.ts';
import { SCENARIOS } from './scenarios.ts';

/** Scenarios for the peers: without a store, a deadline or an option of the client. */
const COMPARED: readonly string[] = [
  'outage 5 s after 300 ms, Retry-After 5, defaults',
  'outage 20 s, Retry-After 5, 1,000 calls',
  'outage 20 s, 503 without a hint',
  'outage of 30 % of the requests, 20 s of 503',
  'hints jittered by 0-10 s, log of 30',
  'hints rounded up to 5 s, bucket of 10',
  'bucket of 1 at 5 per second',
  '8 per 10 s beside 300/min',
  '20 % of the responses lost, 1,000 calls',
  'sliding counter 300, told',
  'leaky queue of 30/min',
  '120 calls at 30/min, learned',
  'window fixed 300, told',
  'network tail beyond 400 ms: log 300, told',
  'network 10 % of requests lost: log 300, told',
  'change 300 to 60, told',
  'others use 30 %, told',
  '4 processes, no store: log 300, told',
  'traffic 80 %: fixed 60, told',
];

/** The outcomes of the client and of each peer in one scenario, one per seed. */
export interface PeerRow {
  readonly name: string;
  readonly outcomes: Readonly<Record<string, readonly Outcome[]>>;
  /** Failed calls of the client in all seeds, minus those of the best peer. */
  readonly worseBy: number;
}

const CLIENT = 'fxrates';

export async function measurePeers(only: string, seeds: number): Promise<PeerRow[]> {
  const rows: PeerRow[] = [];
  for (const scenario of SCENARIOS.filter(({ name }) => COMPARED.includes(name) && name.includes(only))) {
    const outcomes: Record<string, readonly Outcome[]> = {};
    outcomes[CLIENT] = await eachSeed(seeds, (seed) => runScenario(scenario, { seed }));
    for (const peer of PEERS) outcomes[peer] = await eachSeed(seeds, (seed) => runPeer(peer, scenario, seed));
    rows.push({ name: scenario.name, outcomes, worseBy: worseBy(outcomes) });
    process.stderr.write(`${scenario.name}\n`);
  }
  return rows;
}

/** Failed calls in all seeds; refusals and makespan of the worst seed. */
export function peerTable(rows: readonly PeerRow[]): string {
  const names = [CLIENT, ...PEERS];
  const heads = names.flatMap((name) => [`${name}: failed`, '429 per 100', 'time / bound']);
  const cells = rows.map(({ name, outcomes, worseBy: extra }) => [
    name,
    ...names.flatMap((peer) => cellsOf(outcomes[peer] ?? [])),
    extra > 0 ? `${extra} more fail` : 'ok',
  ]);
  return table(['scenario', ...heads, 'no worse than the best'], cells);
}

export function peerSummary(rows: readonly PeerRow[]): string {
  const worse = rows.filter((row) => row.worseBy > 0).map(({ name }) => name);
  const list = worse.length === 0 ? '' : `; worse: ${worse.join('; ')}`;
  return `${rows.length - worse.length} of ${rows.length} no worse than the best peer on failed calls${list}`;
}

async function eachSeed(seeds: number, run: (seed: number) => Promise<Outcome>): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) outcomes.push(await run(seed));
  return outcomes;
}

function worseBy(outcomes: Readonly<Record<string, readonly Outcome[]>>): number {
  const best = Math.min(...PEERS.map((peer) => failedOf(outcomes[peer] ?? [])));
  return Math.max(0, failedOf(outcomes[CLIENT] ?? []) - best);
}

/** Calls that failed or never settled. */
function failedOf(outcomes: readonly Outcome[]): number {
  return outcomes.reduce((sum, { calls, served, aborted }) => sum + calls - served - aborted, 0);
}

function cellsOf(outcomes: readonly Outcome[]): string[] {
  const refused = Math.max(...outcomes.map((outcome) => (100 * outcome.refused) / outcome.calls));
  const ratio = outcomes.every(isComparable) ? Math.max(...outcomes.map(ratioOf)).toFixed(2) : '–';
  return [String(failedOf(outcomes)), refused.toFixed(1), ratio];
}
