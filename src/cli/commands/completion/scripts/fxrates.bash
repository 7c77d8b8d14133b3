# bash completion of fxrates, made by: fxrates completion bash
_fxrates() {
  local line=${COMP_LINE:0:COMP_POINT} raw= breaks prefix= gap word directive out
  local -i i at=0
  local -a words
  words=()
  # Text without spaces is one word of fxrates, even where bash splits it, at = and :
  for ((i = 0; i <= COMP_CWORD; i++)); do
    gap=${line%%[![:space:]]*}
    line=${line#"$gap"}
    word=${COMP_WORDS[i]}
    if ((i == COMP_CWORD)); then word=$line; fi
    line=${line#"$word"}
    if ((i > 0)) && [[ -z $gap ]]; then raw+=$word; words[${#words[@]}-1]=$raw; else raw=$word; words+=("$raw"); fi
    if ((at == 0)) && [[ $raw == -- ]]; then at=i+1; fi
  done
  words=("${words[@]//[\"\'\\]/}")
  out=$("${words[0]/#\~\//$HOME/}" __complete -- "${words[@]:1}" 2>/dev/null) || return
  directive=${out##*:}
  out=${out%:*}
  if ((directive & 64)); then
    if declare -F _command_offset >/dev/null; then _command_offset "$at"; return; fi
    COMPREPLY=($(compgen -A command -A file -- "${COMP_WORDS[COMP_CWORD]}"))
    return
  fi
  # Only what follows the last break is replaced, and within quotes nothing breaks a word.
  breaks=${COMP_WORDBREAKS//[!=:]/}
  word=${words[${#words[@]}-1]}
  if [[ -n $breaks && $raw != *[\"\']* && $word == *["$breaks"]* ]]; then prefix=${word%"${word##*["$breaks"]}"}; fi
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    word=${word#"$prefix"}
    if [[ -z $word ]]; then continue; fi
    if [[ $raw != *[\"\']* ]]; then printf -v word %q "$word"; fi
    COMPREPLY+=("$word")
  done <<<"$out"
  if ((directive & 2)); then compopt -o nospace 2>/dev/null; fi
  if ((directive & 4)) || ((${#COMPREPLY[@]})); then return; fi
  compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _fxrates fxrates
