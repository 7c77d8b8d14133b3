import { CliCommand } from '../../parser/command.ts';
import { completionScripts } from './scripts.ts';

/**
 * The settings file of each shell, and the line in it that loads the script. bash 3.2, that of macOS, reads nothing from
 * `<(…)`.
 */
const SHELLS = [
  { name: 'bash', title: 'bash', file: '~/.bashrc', line: 'eval "$(fxrates completion bash)"' },
  { name: 'zsh', title: 'zsh', file: '~/.zshrc, after compinit', line: 'source <(fxrates completion zsh)' },
  { name: 'fish', title: 'fish', file: '~/.config/fish/config.fish', line: 'fxrates completion fish | source' },
  {
    name: 'powershell',
    title: 'PowerShell',
    file: '$PROFILE',
    line: 'fxrates completion powershell | Out-String | Invoke-Expression',
  },
] as const;

export function completionCommand(): CliCommand {
  const completion = new CliCommand('completion').about({
    summary: 'completion for bash, zsh, fish and PowerShell',
    description: 'Prints a script that lets your shell complete commands, options and values.',
    notes: ['fxrates completion <shell> --help shows the line that installs it.'],
  });
  for (const { name, title, file, line } of SHELLS) {
    const command = new CliCommand(name)
      .about({
        summary: `print the script for ${title}`,
        description: `Prints the completion script for ${title}. To install it, add this line to ${file}:`,
        examples: [{ command: line, comment: '' }],
      })
      .runs(async ({ screen }) => {
        await screen.print(completionScripts[name]);
      });
    completion.addCommand(command);
  }
  return completion;
}
