/**
 * Sends the black-box requests of the adapters' suite to the mock through Prism's validation proxy. Prism reads
 * openapi.yaml itself and shares no code with this project. Exits with 1 if a response violates the document, or is lost.
 * `npm ci --prefix bench && npm run bench:prism`; `--json`, `--record`.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createMockServer, type MockServer } from '../../src/mock-server/index.ts';
import { byNodeHttp, type PlainRequest, type PlainResponse, type Send } from '../../test/helpers/mock-adapters.ts';
import { story } from '../../test/helpers/mock-story.ts';
import { accepts, freePort } from '../free-port.ts';
import { requirePeers } from '../peers.ts';
import { readOptions, report } from '../report.ts';

interface Violation {
  /** Place and description of the problem, such as `['response', 'body', …]`. */
  readonly location: readonly string[];
  readonly message: string;
}

interface Checked extends PlainRequest {
  readonly status: number;
  /** The path that the mock received; Prism removes the second of two slashes. */
  readonly path: string | undefined;
  readonly violations: readonly Violation[];
}

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const PRISM = file('../node_modules/@stoplight/prism-cli/dist/index.js');

const LOST: PlainResponse = { status: 0, headers: {}, body: '' };
const BEHAVIOURS = [
  {},
  { rateHeaders: 'ietf-draft', retryAfterFormat: 'decimal', quotaRetryAfter: 'until-reset' },
  { unlimitedAs: 'omitted', quotaExhausted: '402 quota_exceeded' },
] as const;

const options = readOptions({});
requirePeers();
const seen: Checked[] = [];
for (const behaviour of BEHAVIOURS) {
  const mock = createMockServer({ seed: 7, clock: { mode: 'virtual', autoAdvance: false }, behaviour });
  seen.push(...(await throughPrism(mock, (send) => story(mock, send))));
}
const invalid = await throughPrism(invalidMock(), (send) =>
  send({ target: '/api/v1/quota', headers: { authorization: 'any' } }),
);

const violating = seen.filter(({ violations }) => violations.some(({ location }) => location[0] === 'response'));
// The mock must reject each request that Prism reports as invalid.
const inRequests = seen.filter(({ violations }) => violations.some(({ location }) => location[0] === 'request'));
const lost = seen.filter(({ status }) => status === 0);
// Exception: a key in the URL, which the service accepts but openapi.yaml does not declare.
const accepted = inRequests.filter(
  ({ status, path, target }) => status < 400 && path === target.split('?')[0] && !target.includes('?api_key='),
);
const wrong = [...violating, ...accepted, ...lost].map(({ method = 'GET', target, status, violations }) => {
  return { method, target, status, violations };
});
const counts = {
  requests: seen.length,
  lost: lost.length,
  violatingResponses: violating.length,
  violatingRequests: inRequests.length,
  violatingRequestsAccepted: accepted.length,
  violationsOfInvalidResponse: invalid.flatMap(({ violations }) => violations).length,
};
report('prism', { text: asText(), json: { ...counts, wrong }, figures: counts }, options);
process.exitCode = wrong.length === 0 && counts.violationsOfInvalidResponse > 0 ? 0 : 1;

/** Sends requests to the mock through Prism; returns each one with Prism's report. */
async function throughPrism(mock: MockServer, play: (send: Send) => Promise<unknown>): Promise<readonly Checked[]> {
  const checked: Checked[] = [];
  const { url } = await mock.serve();
  const port = await freePort();
  const prism = spawn(process.execPath, [PRISM, 'proxy', file('../../openapi.yaml'), url, '-p', `${port}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const send = byNodeHttp(`http://127.0.0.1:${port}`);
  try {
    while (!(await accepts(port))) {
      if (prism.exitCode !== null || prism.signalCode !== null) throw new Error('Prism did not start');
    }
    await play(async (sent) => {
      // Prism closes the connection on some requests, such as a path that it cannot decode.
      const response = await send(sent).catch(() => LOST);
      const violations = JSON.parse(response.headers['sl-violations'] ?? '[]') as Violation[];
      const path = mock.journal.list().at(-1)?.path;
      checked.push({ ...sent, status: response.status, path, violations });
      return response;
    });
  } finally {
    prism.kill();
    await mock.close();
  }
  return checked;
}

/** A mock with a fault that removes most fields of the quota; Prism must report it. */
function invalidMock(): MockServer {
  const mock = createMockServer();
  mock.rules.add({ counted: false, respond: { status: 200, body: '{"success":true,"data":{"plan":7}}' } });
  return mock;
}

function asText(): string {
  const lines = wrong.map(({ method, target, status, violations }) => {
    return `${method} ${target.slice(0, 60)} → ${status}: ${JSON.stringify(violations)}`;
  });
  return [
    ...lines,
    `${counts.requests} requests, ${counts.lost} without a response from Prism; violations in ${counts.violatingResponses} responses`,
    `${counts.violatingRequests} requests are wrong for Prism; the mock accepts ${counts.violatingRequestsAccepted} of them`,
    `an invalid response: ${counts.violationsOfInvalidResponse} violations`,
  ].join('\n');
}
