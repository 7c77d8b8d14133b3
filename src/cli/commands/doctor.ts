import { Option } from 'commander';
import { CliCommand, type Invocation } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { connectionOptions, dataOptions } from '../options.ts';
import { printReport, reportText } from '../output/report.ts';
import {
  checkBaseUrlSetting,
  checkKeySetting,
  checkProfile,
  checkProxy,
  checkService,
  checkStorage,
  type Finding,
} from './doctor-checks.ts';
import { versionText } from './version.ts';

interface DoctorOptions {
  readonly offline?: boolean;
  readonly strict?: boolean;
}

export function doctorCommand(): CliCommand {
  return new CliCommand('doctor')
    .about({
      summary: 'check the setup, with the next step for each problem (free)',
      description:
        'Checks settings, key, files, proxy, name, connection, certificate, clock and quota. Sends one quota call, which is free.',
      examples: [
        { command: 'fxrates doctor', comment: '' },
        { command: 'fxrates doctor --strict', comment: 'for scripts: exit code 1 if a check failed' },
        { command: 'fxrates doctor --json', comment: 'for a bug report; contains no key' },
      ],
      notes: [
        'The exit code is 0 even if a check failed. With --strict it is 1 if a check failed; warnings do not count.',
      ],
    })
    .with([
      new Option('--offline', 'check only this machine; send nothing'),
      new Option('--strict', 'exit with 1 if a check failed'),
    ])
    .with(dataOptions('fxrates doctor'), connectionOptions())
    .runs(examine, { survivesBrokenConfig: true });
}

async function examine(invocation: Invocation<DoctorOptions>): Promise<number> {
  const findings = await findingsOf(invocation);
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  const summary = { ok: count('ok'), warn: count('warn'), fail: count('fail'), skip: count('skip') };
  const checks = findings.map(({ next = [], ...finding }) => ({ ...finding, next }));
  const rows = checks.map(({ name, status, text, next }) => ({ label: name, status, value: text, steps: next }));
  const text = reportText(rows, invocation.screen.help);
  await printReport({ text, facts: { summary, checks }, isForLogs: true }, invocation);
  return invocation.options.strict && summary.fail > 0 ? exitCodes.failure : exitCodes.ok;
}

async function findingsOf(invocation: Invocation<DoctorOptions>): Promise<readonly Finding[]> {
  const { io, settings, options } = invocation;
  const stored = await checkStorage(io.env); // first: reading the key corrects the mode of its file
  const baseUrl = await checkBaseUrlSetting(invocation);
  const { keyFinding, key } = await checkKeySetting(invocation);
  const url = baseUrl.status === 'ok' ? settings.baseUrl?.text : undefined;
  const local: readonly Finding[] = [
    { name: 'version', status: 'ok', text: versionText() },
    ...stored,
    ...(await checkProfile(invocation)),
    baseUrl,
    keyFinding,
    checkProxy(url, invocation),
  ];
  if (options.offline) return local;
  if (url === undefined || key === undefined)
    return [...local, { name: 'service', status: 'skip', text: 'not checked: this needs a base URL and a key' }];
  return [...local, ...(await checkService(invocation, { baseUrl: url, key }))];
}
