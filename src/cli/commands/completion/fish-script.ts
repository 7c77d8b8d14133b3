import { allCommands, type CommandNode, type OptionNode } from '../../command-tree.ts';
import { argumentCandidates, LIST_PROFILES, type ValueRule, valueRules, wordsOf } from './script-parts.ts';

/** Every option stands once, with the commands that take it. */
export function fishScript(tree: CommandNode): string {
  const rules = valueRules(tree);
  const commands = allCommands(tree);
  const names = commands.filter(({ path }) => path.length > 0).map((command) => quoted(wordsOf(command)));
  return `# fish completion of fxrates, made by: fxrates completion fish
function __fxrates_state --description 'The command under way, then how many arguments it has'
    set -l command
    set -l arguments 0
    set -l skips
    for word in (commandline -opc)[2..-1]
        if set -q skips[1]
            set -e skips
            continue
        end
        switch $word
            case ${rules.flatMap((rule) => rule.names).join(' ')}
                set skips yes
            case '-*'
            case '*'
                if contains -- (string join ' ' -- $command $word) ${names.join(' ')}
                    set -a command $word
                    set arguments 0
                else
                    set arguments (math $arguments + 1)
                end
        end
    end
    echo "$command"
    echo $arguments
end
${CONDITIONS}
complete -c fxrates -f
${commands.flatMap(argumentLines).join('\n')}
${optionLines(commands, rules).join('\n')}
`;
}

/** What the lines of candidates ask, by `__fxrates_state`. */
const CONDITIONS = `function __fxrates_at --description 'Whether the command under way is one of these'
    set -l state (__fxrates_state)
    contains -- "$state[1]" $argv
end
function __fxrates_starts --description 'The same, and it has no argument yet'
    set -l state (__fxrates_state)
    test "$state[2]" = 0; and contains -- "$state[1]" $argv
end`;

function argumentLines(command: CommandNode): string[] {
  return argumentCandidates(command).map(({ word, description }) => {
    const text = description === '' ? '' : ` -d ${quoted(description)}`;
    return `complete -c fxrates -n ${quoted(`__fxrates_starts ${quoted(wordsOf(command))}`)} -a ${quoted(word)}${text}`;
  });
}

function optionLines(commands: readonly CommandNode[], rules: readonly ValueRule[]): string[] {
  const takers = new Map<string, string[]>();
  for (const command of commands) {
    for (const option of command.options) {
      const line = optionText(option, rules);
      takers.set(line, [...(takers.get(line) ?? []), quoted(wordsOf(command))]);
    }
  }
  return [...takers].map(([line, at]) => `complete -c fxrates -n ${quoted(`__fxrates_at ${at.join(' ')}`)} ${line}`);
}

function optionText({ names, description }: OptionNode, rules: readonly ValueRule[]): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const rule = rules.find((candidate) => candidate.names.join() === names.join());
  return [...flags, ...(rule === undefined ? [] : [valueText(rule)]), `-d ${quoted(description)}`].join(' ');
}

function valueText({ kind, choices }: ValueRule): string {
  if (kind === 'file') return '-r -F';
  if (kind === 'profile') return `-x -a ${quoted(`(${LIST_PROFILES})`)}`;
  return kind === 'choices' ? `-x -a ${quoted(choices.join(' '))}` : '-x';
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
