/** One answer, as far as a probe looks at it. */
export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  /** `error.code` of the envelope. */
  readonly code: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
  /** By the clock of the probe, in milliseconds. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** What to send to the path `/api/v1/…`. */
export interface ProbeRequest {
  readonly method?: 'GET' | 'HEAD' | 'OPTIONS' | 'POST';
  /** The `Authorization` header. */
  readonly authorization?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The page that a browser would send the request for. */
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

/** Ends a probe early: the budget is spent. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent';
}

/** Ends a probe early: the service refuses because of its per-minute limit. */
export class Limited extends Error {
  override readonly name = 'Limited';
  readonly answer: Seen;

  constructor(answer: Seen) {
    super('the per-minute limit was reached');
    this.answer = answer;
  }
}

interface ProberOptions {
  readonly baseUrl: string;
  readonly fetch: ProbeFetch;
  readonly now: () => number;
  readonly maxRequests: number;
  readonly signal: AbortSignal;
}

/** Sends the requests of a probe one after the other, and never one more than allowed. */
export class Prober {
  requests = 0;
  readonly #options: ProberOptions;

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  get left(): number {
    return this.#options.maxRequests - this.requests;
  }

  /** @throws BudgetSpent instead of sending too much, and Limited for 429 `rate_limited` */
  async ask(path: string, { method = 'GET', query = {}, ...headers }: ProbeRequest = {}): Promise<Seen> {
    const { baseUrl, fetch, now, signal } = this.#options;
    if (this.left <= 0) throw new BudgetSpent();
    this.requests += 1;
    const parameters = new URLSearchParams(query).toString();
    const url = `${baseUrl}/api/v1/${path}${parameters === '' ? '' : `?${parameters}`}`;
    const sentAt = now();
    const response = await fetch(url, { method, headers, redirect: 'manual', signal });
    const body = envelopeOf(await response.text());
    const seen = { status: response.status, headers: response.headers, ...body, sentAt, receivedAt: now() };
    if (seen.status === 429 && seen.code === 'rate_limited') throw new Limited(seen);
    return seen;
  }
}

/** `401 unauthorized`, as switches name a response; the status alone when there is no code. */
export function statusAndCodeText({ status, code }: Seen): string {
  return code === undefined ? String(status) : `${status} ${code}`;
}

function envelopeOf(text: string): Pick<Seen, 'code' | 'data'> {
  const { data, error } = objectOf(parsed(text));
  const { code } = objectOf(error);
  return { code: typeof code === 'string' ? code : undefined, data: objectOf(data) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // An empty body, or a page of something in between: there is no envelope to read.
    return undefined;
  }
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
