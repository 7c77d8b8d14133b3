import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Agent } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { FxRates, type FxRatesOptions, type NetworkError } from '../../../src/client/index.ts';
import { bundledProgram } from '../../helpers/child-program.ts';
import { close, listen } from '../../helpers/listen.ts';
import { selfSigned } from '../../helpers/self-signed.ts';
import { API_KEY, success } from '../../helpers/service-replies.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { errorOf } from '../../helpers/test-client.ts';

const run = promisify(execFile);
const child = await bundledProgram(new URL('./proxy.child.ts', import.meta.url));
const unknown = selfSigned();
const expired = selfSigned({ years: [2000, 2001] });
const future = selfSigned({ years: [2900, 2901] });
const otherHost = selfSigned({ host: 'other.test' });

let server: Server | undefined;

afterEach(() => server && close(server));

/** A service on a real socket with this certificate, which counts connections and requests. */
async function serve(credentials: { readonly cert: string; readonly key: string }) {
  const counts = { connections: 0, requests: 0 };
  server = createServer(credentials, (_, response) => {
    counts.requests += 1;
    response.end(JSON.stringify(success({ EUR: 1 }).body));
  });
  server.on('connection', () => {
    counts.connections += 1;
  });
  return { counts, url: `https://localhost:${await listen(server)}` };
}

/** For a server that is trusted, so that nothing but the point in question is wrong with it. */
function trusting(ca: string): FxRatesOptions {
  return { dispatcher: new Agent({ connect: { ca } }) };
}

const UNTRUSTED = ['DEPTH_ZERO_SELF_SIGNED_CERT', 'NODE_EXTRA_CA_CERTS'] as const;
const DATES = "this machine's clock";

test.each<[string, { readonly cert: string; readonly key: string }, FxRatesOptions, string, string]>([
  ['self-signed', unknown, {}, ...UNTRUSTED],
  ['self-signed, through fetch,', unknown, { fetch: globalThis.fetch }, ...UNTRUSTED],
  ['expired', expired, trusting(expired.cert), 'CERT_HAS_EXPIRED', DATES],
  ['not yet valid', future, trusting(future.cert), 'CERT_NOT_YET_VALID', DATES],
  ['another host’s', otherHost, trusting(otherHost.cert), 'ERR_TLS_CERT_ALTNAME_INVALID', 'for another host; check'],
])('a certificate that is %s rejects a call at once, with advice', async (_, credentials, options, code, advice) => {
  const { counts, url } = await serve(credentials);
  const fx = new FxRates({ baseUrl: url, apiKey: API_KEY, ...options });

  const error = (await errorOf(fx.latest())) as NetworkError;

  expect(error).toMatchObject({ kind: 'network', code, attempts: [{ status: undefined }] });
  expect(error.message).toContain(advice);
  expect(counts).toEqual({ connections: 1, requests: 0 });
  expect(fx.limits()).toMatchObject({ inFlight: 0 });
});

test('a certificate in NODE_EXTRA_CA_CERTS is trusted, as the error says', async () => {
  const { url } = await serve(unknown);
  const file = join(temporaryFolder(), 'ca.pem');
  await writeFile(file, unknown.cert);

  const { stdout } = await run(process.execPath, [child, url], { env: { ...process.env, NODE_EXTRA_CA_CERTS: file } });

  expect(JSON.parse(stdout)).toEqual({ EUR: 1 });
});
