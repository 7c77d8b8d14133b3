import { Argument } from 'commander';
import type { ObservedBehaviour, ProbeFetch } from '../../probe/index.ts';
import { replaceFile } from '../../replace-file.ts';
import { CliError, cannotWrite } from '../errors/cli-error.ts';
import { asTable } from '../output/print-json.ts';
import { printReport } from '../output/report.ts';
import { CliCommand } from '../parser/command.ts';
import { HttpTrace } from '../request/http-trace.ts';
import { openConnection, sendQuotaRequest } from '../request/send-request.ts';
import { requireBaseUrl } from '../settings/base-url.ts';
import { CliOption, checkOptions, dataOptions, fileOption, type ValuesOf } from '../settings/options.ts';
import { checkOutputFile, type KeyInUse, requireKey } from '../settings/resolve-key.ts';
import type { Invocation } from '../settings/settings.ts';
import { formatDuration, wholeNumber } from '../settings/values.ts';
import type { StreamStyle } from '../terminal/screen.ts';

/** One that checks the key, and those that observe everything that requires no refusal of the limit. */
const USUAL_REQUESTS = 15;

const probeOptions = () => [
  new CliOption(
    '--max-requests <count>',
    `maximum number of requests (default: ${USUAL_REQUESTS})`,
    wholeNumber(2, 99_999),
  ),
  fileOption('--out <file>', 'write the JSON to this file'),
];

export function probeCommand(): CliCommand {
  return new CliCommand('probe')
    .about({
      summary: 'observe how a running service behaves, for mock --behaviour',
      description:
        'Sends requests to a running service, with your key and within a budget, to observe its undocumented behaviour. In a pipe, and with --out, it writes JSON for fxrates mock --behaviour. The JSON also lists the behaviour that the probe cannot observe.',
      examples: [
        { command: 'fxrates probe https://api.example.test --out behaviour.json', comment: '' },
        { command: 'fxrates mock --behaviour behaviour.json', comment: 'a mock that behaves like it' },
      ],
      notes: [
        'The first request, quota, checks the key and is free. With the default budget, one request may use monthly quota. With a budget of 20 requests above the per-minute limit, the probe also tests that limit, and two more requests may use quota.',
        'The probe does not wait for limits. If the per-minute limit is reached early, it prints what it has observed. --timeout applies to each request, and a failed request is not sent again.',
        'One or two requests send the key in the URL (api_key=), to find out whether the service accepts it there. URLs appear in the logs of proxies and of the service: use a key that you can revoke.',
      ],
    })
    .takes(new Argument('[base-url]', 'base URL of the service (default: as for other commands)'))
    .with(probeOptions)
    .with(() => [...dataOptions(), ...checkOptions().filter(({ long }) => long !== '--base-url')])
    .runs(probe);
}

/** Prints the maximum number of requests, probes the service, and prints or writes the observations. */
async function probe(invocation: Invocation<ValuesOf<typeof probeOptions>>): Promise<void> {
  const { io, screen, args } = invocation;
  const { out, maxRequests = USUAL_REQUESTS } = invocation.options;
  const [given] = args;
  const typed = given === undefined ? {} : { baseUrl: { text: given, source: 'the argument of probe' } };
  const settings = { ...invocation.settings, ...typed };
  const baseUrl = requireBaseUrl(settings, 'fxrates probe https://…').replace(/\/+$/, '');
  const key = await requireKey({ ...invocation, settings });
  if (out !== undefined) await checkOutputFile(out, invocation);
  const { probeService } = await import('../../probe/index.ts');
  await screen.remark(`at most ${maxRequests} requests to ${baseUrl}, the first of which checks the key`);
  const oddResponse = await checkKey({ ...invocation, settings }, key);
  const { signal } = io.interrupts;
  const connection = await openConnection(io, baseUrl);
  // Both kinds of `fetch` accept any method. The type has only GET, which the client uses.
  const trace = new HttpTrace({ ...invocation, settings });
  const fetch = trace.wrap(connection.fetch, baseUrl, () => undefined) as unknown as ProbeFetch;
  const { timeoutMs, insecureHttp: allowInsecureHttp } = settings;
  const limits = { maxRequests: maxRequests - 1, timeoutMs, allowInsecureHttp };
  const observed = await probeService(baseUrl, { apiKey: key.secret, ...limits, fetch, clock: io.clock, signal })
    .catch((cause: Error) => {
      signal.throwIfAborted();
      throw oddResponse ?? new CliError('the probe failed', { code: 'response', why: cause.message, cause });
    })
    .finally(connection.close);
  const json = `${JSON.stringify(observed, undefined, 2)}\n`;
  if (out !== undefined) await replaceFile(out, json).catch(cannotWrite(out));
  else
    await printReport(
      { text: () => observationTable(observed, screen.out), json: JSON.stringify(observed) },
      invocation,
    );
  await reportOutcome(observed, invocation);
  if (out === undefined && screen.isForPeople)
    await screen.info('To use them in a mock server, write them to a file with --out behaviour.json\n');
}

function observationTable({ about, ...observed }: ObservedBehaviour, style: StreamStyle): string {
  const values = Object.entries(observed).map(([name, known]) => [
    name,
    typeof known === 'object' ? known?.value : known,
  ]);
  return `${asTable(JSON.stringify(Object.fromEntries(values)), style)}\n\n`;
}

async function reportOutcome({ about, ...observed }: ObservedBehaviour, { screen }: Invocation): Promise<void> {
  const open = Object.keys(about.notObserved).length;
  const count = Object.keys(observed).length;
  await screen.remark(`${count} switches observed with ${about.requests} requests, ${open} not observable`);
  for (const contradiction of about.contradictions) await screen.warn(`not as documented: ${contradiction}`);
}

/** Sends one `quota`, which is free. Returns the error of an odd response to a valid key, which the probe may understand. */
async function checkKey(invocation: Invocation, key: KeyInUse): Promise<CliError | undefined> {
  const settings = { ...invocation.settings, retries: 0, maxWaitMs: 0 };
  // The commands that an error names have no base URL as an argument.
  const [baseUrl] = invocation.args;
  const options = { ...invocation.options, ...(baseUrl && { baseUrl }) };
  try {
    await sendQuotaRequest({ ...invocation, settings, options }, { key });
    return undefined;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const { code, facts } = error.details;
    if (facts?.status === 200) return error;
    if (code !== 'rate_limited') throw error;
    const seconds = facts?.retry_after_seconds;
    const why = seconds === undefined ? undefined : `retry in ${formatDuration(1000 * seconds)}`;
    throw new CliError('rate limited', { ...error.details, why, hints: ['Try again later.'] }); // there is no --max-wait
  }
}
