import type { CommandNode } from '../../command-tree.ts';
import { type Candidate, type CaseSyntax, caseParts, LIST_PROFILES, type ValueRule } from './script-parts.ts';

/** Works as a file in `fpath` and when it is sourced. */
export function zshScript(tree: CommandNode): string {
  const { optionsWithValue, commands, valueArms, lookUp } = caseParts(tree, SYNTAX);
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
      ${optionsWithValue} option=$word ;;
      (-*) ;;
      (*) case "$command $word" in
        ${commands} command="$command $word" arguments=0 ;;
        (*) arguments+=1 ;;
      esac ;;
    esac
  done
  if [[ -z $option && $PREFIX == --*=* ]]; then option=\${PREFIX%%=*}; compset -P '*='; fi
  case $option in
${valueArms}
    (?*) return 1 ;;
    (*) ${lookUp} ;;
  esac
  _describe fxrates candidates
}
if [[ $funcstack[1] == _fxrates ]]; then _fxrates "$@"; else compdef _fxrates fxrates; fi
`;
}

const SYNTAX: CaseSyntax = {
  current: '$PREFIX',
  arm: (patterns) => `(${patterns.join('|')})`,
  offer: (candidates) => `candidates=(${candidates.map(described).join(' ')})`,
  value: ({ kind, choices }: ValueRule) => {
    if (kind === 'profile') return `candidates=(\${(f)"$(${LIST_PROFILES})"})`;
    return kind === 'choices' ? `candidates=(${choices.join(' ')})` : '_files; return';
  },
};

/** `'word:its description'`; in a word, a colon would end it. */
function described({ word, description }: Candidate): string {
  const text = description === '' ? '' : `:${description}`;
  return `'${(word.replaceAll(':', '\\:') + text).replaceAll("'", "'\\''")}'`;
}
