import { allCommands, type CommandNode } from '../command-tree.ts';
import {
  argumentCandidates,
  type Candidate,
  indented,
  LIST_PROFILES,
  offers,
  optionCandidates,
  type ValueRule,
  valueRules,
  wordsOf,
} from './script-parts.ts';

/** Runs in bash 3.2 as well, which macOS has. There, and wherever `=` breaks words, `--color=al` is three words. */
export function bashScript(tree: CommandNode): string {
  const rules = valueRules(tree);
  const commands = tree.commands.flatMap(allCommands).map(wordsOf);
  const arms = (candidatesOf: (command: CommandNode) => readonly Candidate[]) =>
    offers(tree, candidatesOf).map(({ words, candidates }) => {
      return `${words.map(commandPattern).join(' | ')}) words='${candidates.map(({ word }) => word).join(' ')}' ;;`;
    });
  return `# bash completion of fxrates, made by: fxrates completion bash
_fxrates() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command= option= words= word
  local -i arguments=0
  [[ $current == '=' ]] && current=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == '=' ]]; then continue; fi
    if [[ -n $option ]]; then option=; continue; fi
    case $word in
      --) COMPREPLY=($(compgen -A command -A file -- "$current")); return ;;
      ${rules.flatMap(({ names }) => names).join(' | ')}) option=$word ;;
      -*) ;;
      *) case "$command $word" in
        ${commands.map(commandPattern).join(' | ')})
          command="$command $word" arguments=0 ;;
        *) arguments+=1 ;;
      esac ;;
    esac
  done
  case $option in
${indented(rules.filter(({ kind }) => kind !== 'free').map(valueArm), 4)}
    ?*) return ;;
    *)
      if [[ $current == -* ]]; then
        case $command in
${indented(arms(optionCandidates), 10)}
        esac
      elif ((arguments == 0)); then
        case $command in
${indented(arms(argumentCandidates), 10)}
        esac
      fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _fxrates fxrates
`;
}

function valueArm({ names, kind, choices }: ValueRule): string {
  const pattern = names.join(' | ');
  if (kind === 'profile') return `${pattern}) words=$(${LIST_PROFILES}) ;;`;
  if (kind === 'choices') return `${pattern}) words='${choices.join(' ')}' ;;`;
  return `${pattern}) local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null; return ;;`;
}

/** The script puts a space before each word of a command. */
function commandPattern(words: string): string {
  return words === '' ? "''" : `' ${words}'`;
}
