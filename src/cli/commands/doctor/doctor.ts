import { Option } from 'commander';
import { VERSION } from '../../../version.ts';
import type { CommandSpec, Invocation } from '../../command.ts';
import { exitCodes } from '../../exit-codes.ts';
import { printJson } from '../../output/print-json.ts';
import { checkBaseUrlSetting, checkKeySetting, checkProxy, checkStorage } from './check-local.ts';
import { checkService } from './check-service.ts';
import { type Finding, findingsText } from './finding.ts';

export const doctorCommand: CommandSpec = {
  name: 'doctor',
  summary: 'what works and what does not, each with the next step (free)',
  description:
    'Checks settings, key, files, proxy, name, connection, certificate, clock and quota. Asks for the quota once, which is free.',
  options: () => [new Option('--offline', 'check only what is on this machine')],
  examples: [
    { command: 'fxrates doctor', comment: '' },
    { command: 'fxrates doctor --json', comment: 'for a bug report: no key is in it' },
  ],
  notes: ['Findings are no failure: the exit code is 0 whenever the report could be made.'],
  callsService: true,
  printsData: true,
  survivesBrokenConfig: true,
  run: examine,
};

async function examine(invocation: Invocation): Promise<number> {
  const { settings, screen } = invocation;
  const findings = await findingsOf(invocation);
  if (settings.output === 'auto' && settings.get.length === 0) {
    await screen.printText(findingsText(findings, screen.help));
  } else {
    const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
    const summary = { ok: count('ok'), warn: count('warn'), fail: count('fail'), skip: count('skip') };
    const checks = findings.map(({ next = [], ...finding }) => ({ ...finding, next }));
    await printJson(JSON.stringify({ summary, checks }), invocation);
  }
  return exitCodes.ok;
}

async function findingsOf(invocation: Invocation): Promise<readonly Finding[]> {
  const { io, settings, options } = invocation;
  const { version, platform, arch } = process;
  const ownVersion = `fxrates ${VERSION}, Node.js ${version.slice(1)}, ${platform}-${arch}`;
  const stored = await checkStorage(io.env); // first: reading the key corrects the mode of its file
  const baseUrl = checkBaseUrlSetting(invocation);
  const { finding: keyFinding, key } = await checkKeySetting(invocation);
  const url = baseUrl.status === 'ok' ? settings.baseUrl?.text : undefined;
  const local: readonly Finding[] = [
    { name: 'version', status: 'ok', text: ownVersion },
    ...stored,
    baseUrl,
    keyFinding,
    checkProxy(url, invocation),
  ];
  if (options['offline'] === true) return local;
  if (url === undefined || key === undefined)
    return [...local, { name: 'service', status: 'skip', text: 'not asked: that needs a base URL and a key' }];
  return [...local, ...(await checkService(invocation, { baseUrl: url, key }))];
}
