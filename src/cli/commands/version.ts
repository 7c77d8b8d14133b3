import { VERSION } from '../../version.ts';
import type { CommandSpec, Invocation } from '../command.ts';
import { exitCodes } from '../exit-codes.ts';
import { printJson } from '../output/print-json.ts';

export const versionCommand: CommandSpec = {
  name: 'version',
  summary: 'print the version; --json adds Node.js and platform',
  description: 'Prints the version of fxrates and what it runs on. Nothing is sent.',
  examples: [{ command: 'fxrates version --json', comment: 'for a bug report' }],
  callsService: false,
  printsData: true,
  run: printVersion,
};

async function printVersion(invocation: Invocation): Promise<number> {
  const { screen, settings } = invocation;
  const { version: node, platform, arch } = process;
  const facts = { fxrates: VERSION, node: node.slice(1), platform: `${platform}-${arch}` };
  if (settings.output === 'auto' && settings.get.length === 0) {
    await screen.print(`fxrates ${VERSION}, Node.js ${facts.node}, ${facts.platform}\n`);
  } else {
    await printJson(JSON.stringify(facts), invocation);
  }
  return exitCodes.ok;
}
