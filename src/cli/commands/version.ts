import { VERSION } from '../../version.ts';
import { CliCommand } from '../command.ts';
import { dataOptions } from '../options.ts';
import { printReport } from '../output/report.ts';

export function versionCommand(): CliCommand {
  return new CliCommand('version')
    .about({
      summary: 'print the versions of fxrates and Node.js, and the platform',
      description: 'Prints the versions of fxrates and Node.js, and the platform. Nothing is sent.',
      examples: [{ command: 'fxrates version --json', comment: 'for a bug report' }],
    })
    .with(() => dataOptions())
    .runs((invocation) => printReport({ text: `${versionText()}\n`, facts: versionFacts() }, invocation));
}

function versionFacts(): { readonly fxrates: string; readonly node: string; readonly platform: string } {
  const { version, platform, arch } = process;
  return { fxrates: VERSION, node: version.slice(1), platform: `${platform}-${arch}` };
}

export function versionText({ fxrates, node, platform } = versionFacts()): string {
  return `fxrates ${fxrates}, Node.js ${node}, ${platform}`;
}
