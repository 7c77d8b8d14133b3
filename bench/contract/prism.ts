/**
 * Sends the black-box requests of the adapters' suite to the mock through Prism's validation proxy. Prism reads
 * openapi.yaml itself and shares no code with this project. Exits with 1 if any response violates the document.
 * `npm ci --prefix bench && npm run bench:contract`; `--json`, `--record`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createMockServer, type MockServer } from '../../src/mock-server/index.ts';
import type { PlainRequest, PlainResponse } from '../../test/helpers/mock-adapters.ts';
import { story } from '../../test/helpers/mock-story.ts';
import { freePort } from '../free-port.ts';
import { reportChanges } from '../recorded.ts';

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

const BEHAVIOURS = [
  {},
  { rateHeaders: 'ietf-draft', retryAfterFormat: 'decimal', quotaRetryAfter: 'until-reset' },
  { unlimitedAs: 'omitted', quotaExhausted: '402 quota_exceeded' },
] as const;

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
const { values } = parseArgs({
  options: { json: { type: 'boolean', default: false }, record: { type: 'boolean', default: false } },
});
reportChanges({ bench: 'prism', node: process.version, figures: counts, isRecorded: values.record });
process.stdout.write(`${values.json ? JSON.stringify({ ...counts, wrong }, undefined, 2) : asText()}\n`);
process.exitCode = violating.length + accepted.length === 0 && counts.violationsOfInvalidResponse > 0 ? 0 : 1;

/** Sends requests to the mock through Prism; returns each one with Prism's report. */
async function throughPrism(
  mock: MockServer,
  play: (send: (request: PlainRequest) => Promise<PlainResponse>) => Promise<unknown>,
): Promise<readonly Checked[]> {
  const checked: Checked[] = [];
  const { url } = await mock.serve();
  const port = await freePort();
  const prism = spawn(process.execPath, [PRISM, 'proxy', file('../../openapi.yaml'), url, '-p', String(port)]);
  try {
    await listening(prism);
    await play(async (sent) => {
      const response = await send(port, sent);
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

function send(port: number, { method = 'GET', target, headers = {}, body }: PlainRequest): Promise<PlainResponse> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', path: target, method, headers, agent: false };
    const outgoing = request(options, async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers as Record<string, string>, body: text });
    });
    // Prism closes the connection on some requests, such as a path that it cannot decode.
    outgoing.on('error', () => resolve({ status: 0, headers: {}, body: '' }));
    outgoing.end(body);
  });
}

/** A mock with a fault that removes most fields of the quota; Prism must report it. */
function invalidMock(): MockServer {
  const mock = createMockServer();
  mock.faults.add({ kind: 'status', status: 200, body: '{"success":true,"data":{"plan":7}}' });
  return mock;
}

/** Reads the output continuously: Prism exits if it cannot write its log. */
async function listening(prism: ChildProcess): Promise<void> {
  let said = '';
  const note = (chunk: Buffer) => {
    said += chunk;
  };
  prism.stdout?.on('data', note);
  prism.stderr?.on('data', note);
  while (!said.includes('Prism is listening')) {
    if (prism.exitCode !== null) throw new Error(`Prism did not start: ${said}`);
    await setTimeout(50);
  }
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
