import { expect, onTestFinished, test } from 'vitest';
import { httpFetch } from '../../../src/cli/io/http-fetch.ts';
import { type FetchLike, FxRates, type NetworkError } from '../../../src/client/index.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { startRawServer } from '../../helpers/raw-server.ts';
import { API_KEY } from '../../helpers/service-replies.ts';
import { errorOf } from '../../helpers/test-client.ts';

const BODY = '{"success":true,"data":{}}';
const NOT_HTTP = /check (baseUrl, and )?the server or proxy/;

/** Sends these bytes for each request, over one of the transports, and returns the error and the requests. */
async function callOf(bytes: string, { isClosed = false, by = 'undici' }: { isClosed?: boolean; by?: string }) {
  const server = await startRawServer({
    onRequest: ({ socket }) => {
      socket.write(bytes, 'latin1');
      if (isClosed) socket.end();
    },
  });
  onTestFinished(() => server.close());
  const clock = new FakeClock();
  const fx = new FxRates({ baseUrl: server.url, apiKey: API_KEY, clock, ...over[by] });
  // The timeout of the attempt is later.
  const error = await clock.run(errorOf(fx.latest()), { horizonMs: 9_000 });
  return { error: error as NetworkError, sent: server.requests.length };
}

const over: Readonly<Record<string, { fetch?: FetchLike }>> = {
  undici: {},
  fetch: { fetch: globalThis.fetch },
  'the fetch of the command line': { fetch: httpFetch },
};
const WAYS = Object.keys(over);

const heads: readonly [string, string, RegExp][] = [
  ['lines that end in LF', `HTTP/1.1 200 OK\ncontent-length: 26\n\n${BODY}`, NOT_HTTP],
  ['a header line that ends in LF', `HTTP/1.1 200 OK\r\ncontent-length: 26\n\r\n${BODY}`, NOT_HTTP],
  ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', NOT_HTTP],
  ['TLS on a port for plain http', '\x15\x03\x01\x00\x02\x02\x46', NOT_HTTP],
  ['HTTP/2', '\x00\x00\x12\x04\x00\x00\x00\x00\x00', NOT_HTTP],
  ['a body without a head', '<html>hello</html>\r\n\r\n', NOT_HTTP],
  ['an unknown version', `HTTP/9.9 200 OK\r\ncontent-length: 26\r\n\r\n${BODY}`, NOT_HTTP],
  ['a status that is not a number', `HTTP/1.1 20x OK\r\ncontent-length: 26\r\n\r\n${BODY}`, NOT_HTTP],
  ['a length that is not a number', `HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n${BODY}`, NOT_HTTP],
  ['two lengths', `HTTP/1.1 200 OK\r\ncontent-length: 26\r\ncontent-length: 27\r\n\r\n${BODY}`, NOT_HTTP],
  ['length and chunks', `HTTP/1.1 200 OK\r\ncontent-length: 26\r\ntransfer-encoding: chunked\r\n\r\n${BODY}`, NOT_HTTP],
  ['70 kB of headers', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}\r\n\r\n`, /--max-http-header-size=65536/],
];

test.each(heads.flatMap(([name, bytes, advice]) => WAYS.map((by) => ({ name, bytes, advice, by }))))(
  'a response with $name fails after one request with the next step (by $by)',
  async ({ bytes, advice, by }) => {
    const { error, sent } = await callOf(bytes, { by });

    expect(error).toMatchObject({ kind: 'network', advice: expect.stringMatching(advice) });
    expect(error.message).toMatch(/^No valid HTTP response from 127\.0\.0\.1:\d+: /);
    expect(sent).toBe(1);
  },
);

test.each(['099 Odd', '101 Switching Protocols'])(
  'a response with the status %s, which undici does not expect, is named as such and fails after one request',
  async (status) => {
    const { error, sent } = await callOf(`HTTP/1.1 ${status}\r\n\r\n`, {});

    expect(error.message).toMatch(/: HPE_INVALID_STATUS; the response is not valid HTTP\/1\.1; check baseUrl/);
    expect(sent).toBe(1);
  },
);

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

const bodies: readonly [string, string, boolean][] = [
  ['an invalid chunk', `${CHUNKED}zz\r\n${BODY}`, false],
  ['half a chunk', `${CHUNKED}5\r\n{"suc`, true],
  ['half a body', 'HTTP/1.1 200 OK\r\ncontent-length: 26\r\n\r\n{"succ', true],
  ['no head', '', true],
];

test.each(bodies.flatMap(([name, bytes, isClosed]) => WAYS.map((by) => ({ name, bytes, isClosed, by }))))(
  'a response with $name, which can be lost on the way, is retried (by $by)',
  async ({ bytes, isClosed, by }) => {
    const { error, sent } = await callOf(bytes, { isClosed, by });

    expect(error).toMatchObject({
      kind: 'network',
      message: expect.stringMatching(/closed the connection|check baseUrl/),
    });
    expect(sent).toBe(3);
  },
);
