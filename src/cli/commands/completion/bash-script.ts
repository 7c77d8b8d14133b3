import type { CommandNode } from '../../command-tree.ts';
import { type CaseSyntax, caseParts, LIST_PROFILES, type ValueRule } from './script-parts.ts';

/** Runs in bash 3.2 as well, which macOS has. There, and wherever `=` breaks words, `--color=al` is three words. */
export function bashScript(tree: CommandNode): string {
  const { optionsWithValue, commands, valueArms, lookUp } = caseParts(tree, SYNTAX);
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
      ${optionsWithValue} option=$word ;;
      -*) ;;
      *) case "$command $word" in
        ${commands} command="$command $word" arguments=0 ;;
        *) arguments+=1 ;;
      esac ;;
    esac
  done
  case $option in
${valueArms}
    ?*) return ;;
    *) ${lookUp} ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _fxrates fxrates
`;
}

const SYNTAX: CaseSyntax = {
  current: '$current',
  arm: (patterns) => `${patterns.join(' | ')})`,
  offer: (candidates) => `words='${candidates.map(({ word }) => word).join(' ')}'`,
  value: ({ kind, choices }: ValueRule) => {
    if (kind === 'profile') return `words=$(${LIST_PROFILES})`;
    if (kind === 'choices') return `words='${choices.join(' ')}'`;
    return `local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null; return`;
  },
};
