import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { FxRates } from '../../src/client/index.ts';
import { createMockServer } from '../../src/mock-server/index.ts';

const textOf = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
const benchmarks = textOf('docs/benchmarks.md').split('\n');
/** The last recorded run of `npm run bench:simulate -- --wild --seeds 1 --record`. */
const { date, figures }: { readonly date: string; readonly figures: Readonly<Record<string, number>> } = JSON.parse(
  textOf('bench/recorded/simulate.json'),
)['Node 20'];
const situations = Object.keys(figures).flatMap((name) => name.match(/^(.*): goals missed$/)?.[1] ?? []);
const missed = situations.filter((name) => figures[`${name}: goals missed`] !== 0);

interface Line {
  readonly heading: string;
  readonly line: string;
  readonly number: number;
  readonly cells: readonly string[];
}

type Source = Readonly<Record<'figure' | 'source', string>>;

const lines = readLines(textOf('docs/rate-limits.md'));
/** HTTP statuses and file modes. */
const NAMES = ['429', '503', '0700', '0600'];

/** Seconds for 100 calls against a token bucket, with a Free key. */
const WITHOUT_PROBE = 180;
const WITH_PROBE = 140;

/** The source of each figure in the text of a section. Tables of measurements have tests of their own. */
const SOURCES: Readonly<Record<string, readonly Source[]>> = {
  'How calls are queued': [{ figure: '1,000', source: 'the example' }],
  'How the limit is determined': [constant('limits/transitions.ts', 'SMALLEST_LIMIT')],
  'Requests in flight': [
    constant('limits/concurrency.ts', 'FIRST'),
    constant('limits/concurrency.ts', 'LARGEST_CONCURRENCY'),
  ],
  'After a refusal': [...measured(100, WITHOUT_PROBE, WITH_PROBE), ...setUp('8 per 10 s beside 300/min', '8', '10')],
  'Retry-After': [
    constant('limits/retry-after.ts', 'MILLISECONDS_FROM'),
    constant('limits/retry-after.ts', 'MILLISECONDS_AT_MOST'),
    constant('limits/retry-after.ts', 'EPOCH_SECONDS_FROM'),
    constant('config/option-table.ts', 'maxRetryAfterMs'),
    constant('limits/learn-window.ts', 'FIRST_TRY_MS', 1_000),
    constant('limits/grant.ts', 'LONGEST_BACKOFF_MS', 1_000),
    { figure: '0', source: 'the value that is ignored' },
  ],
  Outages: [
    constant('limits/in-flight.ts', 'FIRST_BACKOFF_MS', 1_000),
    constant('limits/in-flight.ts', 'LONGEST_BACKOFF_MS', 1_000),
    constant('limits/in-flight.ts', 'LONGEST_OUTAGE_MS', 1_000),
  ],
  'Why did a call wait?': [
    constant('limits/limiter-view.ts', 'LONGEST_HISTORY'),
    ...['40', '5', '30', '00:00', '00:05', '01:00'].map((figure) => ({ figure, source: 'the example' })),
  ],
  'Several processes or hosts with one key': [
    { figure: '100', source: 'the unit of the table' },
    constant('limits/shared/store-exchange.ts', 'TIMEOUT_MS', 1_000),
    constant('limits/shared/proposal.ts', 'LEASE_MS', 1_000),
    { figure: '5', source: 'the oldest version of Redis that the store supports' },
    { figure: '5.12', source: 'a version of node-redis' },
  ],
  'Limits in the wild': [
    { figure: date, source: 'bench/recorded/simulate.json' },
    { figure: String(situations.length), source: 'number of situations' },
    { figure: String(situations.length - missed.length), source: 'situations that meet their goals' },
    { figure: String(missed.length), source: 'situations that miss a goal' },
    { figure: medianTime(), source: 'median of time / bound' },
    ...['3', '2'].map((figure) => ({ figure, source: 'situations that miss a goal, by group' })),
    ...setUp('10 processes, store 100-300 ms: fixed 300, learned', '100', '300'),
    time('10 processes, store 100-300 ms: fixed 300, learned', 2),
    ...setUp('others use 70 %, told', '70'),
    ...setUp('hints rounded up to 10 s, bucket of 60', '10'),
    refused('hints rounded up to 10 s, bucket of 60', 0),
    refused('told 300, downgraded to 60, bucket of 60', 0),
    ...setUp('bucket of 1 at 5 per second', '1', '100'),
    time('bucket of 1 at 5 per second, 60 ms one way', 2),
    time('bucket of 1 at 5 per second', 1),
    time('at most 5 requests at once, 200 ms each', 1),
    ...['8', '12', '19', '20', '30', '5', '200', '155'].map((figure) => ({
      figure,
      source: 'measured with a command of the section',
    })),
  ],
};

/** Rows of the table by their label, each with the situation in bench/limits/wild. */
const SITUATIONS: Readonly<Record<string, string>> = {
  '300/min, fixed window, told, 1,000 calls': 'window fixed 300, told',
  '30/min, fixed window, learned, 120 calls': '120 calls at 30/min, learned',
  '300/min, sliding counter, told, 1,000 calls': 'sliding counter 300, told',
  'bucket of 1 that refills 5 per second, 600 calls': 'bucket of 1 at 5 per second',
  '8 per 10 s beside 300/min, 100 calls': '8 per 10 s beside 300/min',
  'Retry-After with 0–10 s added, 30/min, 100 calls': 'hints jittered by 0-10 s, log of 30',
  'server that queues requests forever, 30/min, 60 calls': 'leaky queue of 30/min',
  '20 s of 503 with Retry-After 5, 1,000 calls': 'outage 20 s, Retry-After 5, 1,000 calls',
  '20 s of 503 without Retry-After, 300 calls': 'outage 20 s, 503 without a hint',
  '20 s in which 30 % of the requests get a 503, 300 calls': 'outage of 30 % of the requests, 20 s of 503',
  '20 % of the responses lost, 1,000 calls': '20 % of the responses lost, 1,000 calls',
  'limit lowered from 300 to 60, told 300, 800 calls': 'change 300 to 60, told',
  'reports ten times the limit, 400 calls': 'quota says ten times the limit',
  'system clock set forward by an hour, 400 calls': 'clock + 1 h, 400 calls, defaults',
  '4 processes, no store, 300/min, told, 1,200 calls': '4 processes, no store: log 300, told',
  '10 processes, no store, 300/min, learned, 1,200 calls': '10 processes, no store: fixed 300, learned',
  '10 processes, store with 20–60 ms latency, the same': '10 processes, store 20-60 ms: fixed 300, learned',
  '60 processes that make one call each, no store': '60 cold processes, a call each, traffic 120 % of 30',
  '60 processes that make one call each, store with 2 ms latency': '60 cold processes, store 2 ms, traffic 120 % of 30',
  '100 processes that make one call each at once, store with 2 ms latency':
    '100 cold processes, store 2 ms, a call each at once',
  '4 processes, store unavailable from 3 to 20 s, bucket of 3, 60 calls':
    '4 processes, store 100-300 ms silent from 3 to 20 s, bucket of 3',
};

/** Rows of the table of refusals: the figures without and with a store. */
const REFUSALS: Readonly<Record<string, readonly [none: string, shared: string]>> = {
  '4 processes, 300 per minute, told, 1,200 calls (simulation)': [
    refused('4 processes, no store: log 300, told', 1).figure,
    refused('4 processes, store 20-60 ms: log 300, told', 1).figure,
  ],
  '10 processes, 300 per minute, learned, 1,200 calls (simulation)': [
    refused('10 processes, no store: fixed 300, learned', 1).figure,
    refused('10 processes, store 20-60 ms: fixed 300, learned', 1).figure,
  ],
  '4 processes, 30 per minute, learned, 100 calls (real server)': [
    benchmarkOfFour('**fxrates**'),
    benchmarkOfFour('**fxrates, shared in Redis**'),
  ],
};

describe.each(Object.entries(SOURCES))('the section %s', (heading, sources) => {
  const found = figuresOf(heading);

  test('has a source for every figure', () => {
    const known = new Set(sources.map(({ figure }) => figure));
    const unsupported = found.filter(({ figure }) => !known.has(figure));

    expect(unsupported).toEqual([]);
  });

  test('has every figure of its sources', () => {
    const shown = new Set(found.map(({ figure }) => figure));

    expect(sources.filter(({ figure }) => !shown.has(figure))).toEqual([]);
  });
});

test('every other section has no figure', () => {
  const others = new Set(lines.map(({ heading }) => heading).filter((heading) => SOURCES[heading] === undefined));

  expect([...others].flatMap(figuresOf)).toEqual([]);
});

test.each(Object.entries(SITUATIONS))('refusals and time of fxrates are the recorded ones: %s', (label, name) => {
  const [, per100 = '', time = ''] = rowOf(label)[1]?.split(' · ') ?? [];

  expect(`${per100} · ${time}`).toBe(
    `${recordedAs(per100, name, 'refused per 100')} · ${recordedAs(time, name, 'time / bound')}`,
  );
});

test.each(Object.entries(REFUSALS))('the refusals are those of the recorded runs: %s', (label, [none, shared]) => {
  const [, withoutStore, withStore = ''] = rowOf(label);

  expect([withoutStore, withStore.replace(/ .*/, '')]).toEqual([none, shared]);
});

test.each([
  [true, WITH_PROBE],
  [false, WITHOUT_PROBE],
])('with probe %s, a hundred calls against a token bucket take %i s, as the page says', async (probe, seconds) => {
  const { fx, clock } = freeClient({ probe });
  const startedAt = clock.now();

  await Promise.all(Array.from({ length: 100 }, (_, n) => fx.latest({ n }, { deadlineMs: false })));

  expect(roundedToTen((clock.now() - startedAt) / 1_000)).toBe(seconds);
});

/** A client with a Free key, of a mock with a token bucket in virtual time. */
function freeClient(rateLimit: { readonly probe: boolean }) {
  const mock = createMockServer({ clock: 'virtual', behaviour: { rateWindow: 'token-bucket' } });
  const { key: apiKey } = mock.createKey({ plan: 'free' });
  return { fx: new FxRates({ apiKey, rateLimit, ...mock.clientOptions() }), clock: mock.clock };
}

function roundedToTen(value: number): number {
  return Math.round(value / 10) * 10;
}

function constant(file: string, name: string, unit = 1): Source {
  return { figure: grouped(numberIn(file, name) / unit), source: `${name} in ${file}` };
}

/** The value of a number in a file of the client: `const NAME = 75;`, `name: 90_000,` or `name: { …, default: 90_000 }`. */
function numberIn(file: string, name: string): number {
  const value = new RegExp(`\\b${name}(?: =|:)(?: .*default:)? ([\\d_.e]+)(?:[;,]| })`).exec(
    textOf(`src/client/${file}`),
  )?.[1];
  if (value === undefined) throw new Error(`${name} is not a number in ${file}`);
  return Number(value.replaceAll('_', ''));
}

function grouped(value: number): string {
  return value.toLocaleString('en');
}

function measured(...values: readonly number[]): readonly Source[] {
  return values.map((value) => ({ figure: grouped(value), source: 'the measurement below' }));
}

/** Numbers that describe a recorded situation. */
function setUp(name: string, ...numbers: readonly string[]): readonly Source[] {
  if (!situations.includes(name)) throw new Error(`bench/recorded/simulate.json has no situation ${name}`);
  return numbers.map((figure) => ({ figure, source: name }));
}

function refused(name: string, digits: number): Source {
  return recorded(`${name}: refused per 100`, digits);
}

function time(name: string, digits: number): Source {
  return recorded(`${name}: time / bound`, digits);
}

function recorded(name: string, digits: number): Source {
  const figure = figures[name];
  if (figure === undefined) throw new Error(`bench/recorded/simulate.json has no figure ${name}`);
  return { figure: figure.toFixed(digits), source: name };
}

/** The figure of a document if the recorded one, which has four digits, can be rounded to it; else the recorded one. */
function recordedAs(shown: string, name: string, unit: 'refused per 100' | 'time / bound'): string {
  const figure = figures[`${name}: ${unit}`] ?? Number.NaN;
  const digits = shown.split('.')[1]?.length ?? 0;
  const error = 0.5 * 10 ** -digits + 0.000_5 * figure;
  return Math.abs(Number(shown) - figure) <= error ? shown : figure.toFixed(2);
}

function medianTime(): string {
  const times = situations.flatMap((name) => figures[`${name}: time / bound`] ?? []).sort((a, b) => a - b);
  return (times[Math.floor(times.length / 2)] ?? 0).toFixed(2);
}

/** Refused requests of four processes, in the first row of docs/benchmarks.md with the label. */
function benchmarkOfFour(label: string): string {
  const row = benchmarks.find((line) => line.startsWith(`| ${label} |`)) ?? '';
  return row.split('|')[6]?.trim() ?? '';
}

/** The lines of a page by section, without code, targets of links and RFCs. */
function readLines(page: string): readonly Line[] {
  const text = page
    .replace(/^```.*?^```$/gms, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`|RFC \d+ §[\d.]+|\b[45]xx\b/g, '')
    .replace(/\]\([^)]*\)/g, ']');
  let heading = '';
  return text.split('\n').map((line, place) => {
    if (line.startsWith('## ')) heading = line.slice(3);
    return {
      heading,
      line,
      number: place + 1,
      cells: line
        .split('|')
        .slice(1)
        .map((cell) => cell.trim()),
    };
  });
}

/** The measurement with this label. */
function rowOf(label: string): readonly string[] {
  return lines.find(({ cells }) => cells[0] === label)?.cells ?? [];
}

/** The figures of a section, each with its line, without the measurements. */
function figuresOf(heading: string): readonly { readonly figure: string; readonly line: string }[] {
  const isMeasured = (label = '') => SITUATIONS[label] !== undefined || REFUSALS[label] !== undefined;
  return lines
    .filter((line) => line.heading === heading && !isMeasured(line.cells[0]))
    .flatMap(({ line, number }) => {
      const found = line.match(/\d{4}-\d\d-\d\d|\d+(?:[.,:]\d+)*/g) ?? [];
      return found.map((figure) => ({ figure, line: `docs/rate-limits.md:${number}: ${line}` }));
    })
    .filter(({ figure }) => !NAMES.includes(figure));
}
