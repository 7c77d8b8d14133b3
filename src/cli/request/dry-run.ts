import type { FetchLike } from '../../client/index.ts';
import type { Invocation } from '../command.ts';
import { quoteForShell } from '../command-line.ts';
import { usageError } from '../errors/cli-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import { lowerFirst } from '../terminal/text.ts';
import { callClient, type ServiceRequest } from './send-request.ts';

interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Stands for the key, which a dry run does not read. */
const NO_KEY = 'redacted';

/** Prints the request that the client would send, as JSON or as a curl command. Nothing is sent. */
export async function dryRun(request: ServiceRequest, { settings, screen }: Invocation): Promise<number> {
  const baseUrl = requireBaseUrl(settings);
  const sent = await capture(request, baseUrl, settings.insecureHttp);
  await screen.print(`${settings.printRequestAs === 'curl' ? curlCommand(sent) : JSON.stringify(sent)}\n`);
  return exitCodes.ok;
}

/** The client itself makes the request, so that what is shown is what would be sent. */
async function capture(request: ServiceRequest, baseUrl: string, allowInsecureHttp: boolean): Promise<SentRequest> {
  const { FxRates, FxRatesError } = await import('../../client/index.ts');
  let sent: SentRequest | undefined;
  const fetch: FetchLike = async (url, { method, headers }) => {
    sent = { method, url, headers: { ...headers, authorization: 'Bearer [redacted]' } };
    throw new Error('a dry run sends nothing');
  };
  const logger = { warn: () => undefined };
  // Without the queue of the key: a failed dry run would count as an outage of the service.
  const own = { baseUrl, apiKey: NO_KEY, fetch, maxRetries: 0, rateLimit: false as const };
  const client = new FxRates({ ...own, allowInsecureHttp, logger });
  const failure = await callClient(client, request, {}).then(undefined, (error: unknown) => error);
  if (sent !== undefined) return sent;
  throw FxRatesError.is(failure) && failure.kind === 'config' ? usageError(lowerFirst(failure.message)) : failure;
}

function curlCommand({ url, headers }: SentRequest): string {
  const accept = headers['accept'];
  const parts = ['curl --fail-with-body', '-H "Authorization: Bearer $FXRATES_API_KEY"'];
  if (accept !== undefined) parts.push(`-H ${quoteForShell(`Accept: ${accept}`)}`);
  return [...parts, `'${url.replaceAll("'", '%27')}'`].join(' ');
}
