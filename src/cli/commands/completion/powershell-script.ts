import { allCommands, type CommandNode } from '../../command-tree.ts';
import {
  argumentCandidates,
  type Candidate,
  indented,
  optionCandidates,
  type ValueRule,
  valueRules,
  wordsOf,
} from './script-parts.ts';

/** Windows PowerShell 5 and PowerShell 7. */
export function powershellScript(tree: CommandNode): string {
  const commands = allCommands(tree);
  const table = (candidates: (command: CommandNode) => readonly Candidate[]) =>
    indented(
      commands.map((command) => `${quoted(wordsOf(command))} = ${list(candidates(command).map(({ word }) => word))}`),
      8,
    );
  return `# PowerShell completion of fxrates, made by: fxrates completion powershell
Register-ArgumentCompleter -Native -CommandName fxrates -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    # Names of options that take a value differ in case alone (-V, -v), so the table has to mind it.
    $values = [System.Collections.Hashtable]::new([System.StringComparer]::Ordinal)
${indented(valueRules(tree).flatMap(valueLines), 4)}
    $options = @{
${table(optionCandidates)}
    }
    $arguments = @{
${table(argumentCandidates)}
    }
${COMPLETE}`;
}

/** From the tables and the words so far to what is offered. */
const COMPLETE = `    $command = ''
    $option = ''
    $argumentCount = 0
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    foreach ($word in $words) {
        if ($option) { $option = ''; continue }
        if ($values.ContainsKey($word)) { $option = $word; continue }
        if ($word.StartsWith('-')) { continue }
        $longer = "$command $word".Trim()
        if ($options.ContainsKey($longer)) { $command = $longer; $argumentCount = 0 } else { $argumentCount++ }
    }
    $candidates = @()
    if ($option -ceq '--profile') {
        $candidates = @(fxrates config list 2>$null | Where-Object { $_ -match '^profiles\\.([^.]+)\\.' } |
            ForEach-Object { ($_ -split '\\.')[1] } | Select-Object -Unique)
    }
    elseif ($option) { $candidates = $values[$option] }
    elseif ($wordToComplete.StartsWith('-')) { $candidates = $options[$command] }
    elseif ($argumentCount -eq 0) { $candidates = $arguments[$command] }
    $candidates | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
`;

function valueLines({ names, choices }: ValueRule): string[] {
  return names.map((name) => `$values[${quoted(name)}] = ${list(choices)}`);
}

function list(words: readonly string[]): string {
  return `@(${words.map(quoted).join(', ')})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
