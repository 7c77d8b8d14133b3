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

/** Works as a file in `fpath` and when it is sourced. */
export function zshScript(tree: CommandNode): string {
  const rules = valueRules(tree);
  const commands = tree.commands.flatMap(allCommands).map(wordsOf);
  const arms = (candidatesOf: (command: CommandNode) => readonly Candidate[]) =>
    offers(tree, candidatesOf).map(({ words, candidates }) => {
      return `(${words.map(commandPattern).join('|')}) candidates=(${candidates.map(described).join(' ')}) ;;`;
    });
  return `#compdef fxrates
# zsh completion of fxrates, made by: fxrates completion zsh
_fxrates() {
  local command= option= word
  local -i arguments=0
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n $option ]]; then option=; continue; fi
    case $word in
      (--) _alternative 'commands:command:_command_names -e' 'files:file:_files'; return ;;
      (${rules.flatMap(({ names }) => names).join('|')}) option=$word ;;
      (-*) ;;
      (*) case "$command $word" in
        (${commands.map(commandPattern).join('|')})
          command="$command $word" arguments=0 ;;
        (*) arguments+=1 ;;
      esac ;;
    esac
  done
  if [[ -z $option && $PREFIX == --*=* ]]; then
    option=\${PREFIX%%=*}
    compset -P '*='
  fi
  case $option in
${indented(rules.filter(({ kind }) => kind !== 'free').map(valueArm), 4)}
    (?*) return 1 ;;
    (*)
      if [[ $PREFIX == -* ]]; then
        case $command in
${indented(arms(optionCandidates), 10)}
        esac
      elif ((arguments == 0)); then
        case $command in
${indented(arms(argumentCandidates), 10)}
        esac
      fi ;;
  esac
  _describe fxrates candidates
}
if [[ $funcstack[1] == _fxrates ]]; then _fxrates "$@"; else compdef _fxrates fxrates; fi
`;
}

function valueArm({ names, kind, choices }: ValueRule): string {
  const pattern = `(${names.join('|')})`;
  if (kind === 'profile') return `${pattern} candidates=(\${(f)"$(${LIST_PROFILES})"}) ;;`;
  return kind === 'choices' ? `${pattern} candidates=(${choices.join(' ')}) ;;` : `${pattern} _files; return ;;`;
}

/** The script puts a space before each word of a command. */
function commandPattern(words: string): string {
  return words === '' ? "''" : `' ${words}'`;
}

/** `'word:its description'`; in a word, a colon would end it. */
function described({ word, description }: Candidate): string {
  const text = description === '' ? '' : `:${description}`;
  return `'${(word.replaceAll(':', '\\:') + text).replaceAll("'", "'\\''")}'`;
}
