import { withoutProxy } from '../environment-proxy.ts';
import { operations } from '../generated/operations.ts';
import { parseJson } from '../json.ts';
import type { BehaviourOptions, KnownValue } from '../mock-server/behaviour/behaviour.ts';
import { accepts } from '../mock-server/behaviour/switch.ts';
import { type SwitchName, switches } from '../mock-server/behaviour/switches.ts';
import type { Clock } from '../mock-server/clock/clock.ts';
import type { Operation } from '../operation.ts';

/** The part of a response that a probe uses. */
export interface ProbeResponse {
  readonly status: number;
  readonly headers: Headers;
  /** `error.code` of the envelope. */
  readonly code: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
  /** Whether the per-minute limit refused the request. */
  readonly isRateLimited: boolean;
  /** By the clock of the probe, in milliseconds. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** A request to an operation, or to an unknown path beside one. */
export interface ProbeRequest {
  readonly method?: 'GET' | 'HEAD' | 'OPTIONS' | 'POST';
  /** The `Authorization` header; empty for none. Default: the key as Bearer. */
  readonly authorization?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The origin of the page from which a browser sends the request. */
  readonly origin?: string;
}

/** The function with which a probe sends its requests: the global `fetch`, or one with the same parameters. */
export type ProbeFetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<Response>;

/** Ends a probe early: the budget is spent, or the service refuses because of its per-minute limit, with `response`. */
export class ProbeEnded extends Error {
  override readonly name = 'ProbeEnded';
  readonly response: ProbeResponse | undefined;

  constructor(response?: ProbeResponse) {
    super(`${response === undefined ? 'the budget was used up' : 'the per-minute limit was reached'} before this step`);
    this.response = response;
  }
}

interface ProberOptions {
  readonly baseUrl: string;
  readonly key: string;
  readonly fetch: ProbeFetch;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxRequests: number;
  readonly signal: AbortSignal;
}

/** Sends the requests of a probe one after the other, up to the allowed number, and collects what their responses show. */
export class Prober {
  requests = 0;
  readonly key: string;
  readonly observed = new Map<SwitchName, KnownValue>();
  readonly reasons = new Map<SwitchName, string>();
  readonly contradictions: string[] = [];
  readonly #options: ProberOptions;

  constructor(options: ProberOptions) {
    this.key = options.key;
    this.#options = options;
  }

  get left(): number {
    return this.#options.maxRequests - this.requests;
  }

  /** Records the value of each switch, or the reason why the responses show none of its values. */
  note(...observations: readonly Observation[]): void {
    for (const observation of observations) this.#record(observation);
  }

  #record([name, given, otherwise]: Observation): void {
    const value = accepts(switches[name], given) ? given : undefined;
    const isFirst = !this.observed.has(name) && !this.reasons.has(name);
    if (isFirst && value !== undefined) this.observed.set(name, { value, provenance: 'observed' });
    else if (isFirst) this.reasons.set(name, otherwise);
    else if (this.observed.get(name)?.value !== value) {
      this.observed.delete(name);
      this.reasons.set(name, 'the responses differ');
    }
  }

  /** Records why switches were not observed, unless a response showed the reason. */
  miss(names: readonly SwitchName[], reason: string): void {
    for (const name of names) if (!this.reasons.has(name)) this.reasons.set(name, reason);
  }

  sleep(ms: number): Promise<void> {
    return this.#options.clock.sleep(ms, this.#options.signal);
  }

  /** As `send`, but a refusal of the per-minute limit throws ProbeEnded. */
  async ask(path: string, request: ProbeRequest = {}): Promise<ProbeResponse> {
    const response = await this.send(path, request);
    if (response.isRateLimited) throw new ProbeEnded(response);
    return response;
  }

  /** @throws ProbeEnded instead of sending too much */
  async send(path: string, request: ProbeRequest = {}): Promise<ProbeResponse> {
    const { method = 'GET', query = {}, authorization = `Bearer ${this.key}`, ...others } = request;
    const { baseUrl, fetch, clock, timeoutMs, signal } = this.#options;
    if (this.left <= 0) throw new ProbeEnded();
    const parameters = new URLSearchParams(query).toString();
    const url = `${baseUrl}${pathOf(path)}${parameters === '' ? '' : `?${parameters}`}`;
    this.requests += 1;
    const timeout = new AbortController();
    const done = new AbortController();
    const expire = () => timeout.abort(new Error(`no response within ${timeoutMs} ms`));
    clock.sleep(timeoutMs, done.signal).then(expire, () => undefined);
    const headers = { ...others, ...(authorization !== '' && { authorization }) };
    const sentAt = clock.now();
    try {
      const either = AbortSignal.any([signal, timeout.signal]);
      const response = await fetch(url, { method, headers, redirect: 'manual', signal: either, ...withoutProxy(url) });
      const { status, headers: received } = response;
      const body = envelopeOf(await response.text());
      const isRateLimited = status === 429 && body.code === 'rate_limited';
      return { status, headers: received, ...body, isRateLimited, sentAt, receivedAt: clock.now() };
    } catch (error) {
      throw timeout.signal.aborted && !signal.aborted ? timeout.signal.reason : error;
    } finally {
      done.abort();
    }
  }
}

/** The path of an operation, with the examples of its parameters; of another name, one beside `quota`. */
function pathOf(name: string): string {
  const { [name]: operation }: Readonly<Record<string, Operation>> = operations;
  if (operation === undefined) return operations.quota.path.replace(/[^/]+$/, name);
  const exampleOf = (place: string) => operation.parameters.find((one) => `{${one.name}}` === place)?.example;
  return operation.path.replace(/\{[^{}]+\}/g, (place) => encodeURIComponent(String(exampleOf(place))));
}

/** `401 unauthorized`, as switches name a response; the status alone when there is no code. */
export function statusAndCodeText({ status, code }: ProbeResponse): string {
  return code === undefined ? String(status) : `${status} ${code}`;
}

/** Nothing for an empty body, or a page of a proxy: there is no envelope. */
function envelopeOf(text: string): Pick<ProbeResponse, 'code' | 'data'> {
  const { data, error } = Object(parseJson(text));
  const { code } = Object(error);
  return { code: typeof code === 'string' ? code : undefined, data: Object(data) };
}

/** The result of a probe: a value for `createMockServer({ behaviour })`, also as JSON. */
export type ObservedBehaviour = BehaviourOptions & { readonly about: ProbeSummary };

/** The summary of a probe. */
export interface ProbeSummary {
  /** Origin of the service. */
  readonly origin: string;
  /** Time of the probe, ISO 8601 in UTC. */
  readonly probedAt: string;
  /** Number of requests sent. */
  readonly requests: number;
  /** Differences between the service and its documentation. */
  readonly contradictions: readonly string[];
  /** The switches that were not observed, with the reason. */
  readonly notObserved: Readonly<Partial<Record<SwitchName, string>>>;
}

/** A switch, its value in a response, and the reason for a value that the switch does not have: the response fits none or several. */
export type Observation = readonly [name: SwitchName, value: unknown, otherwise: string];
