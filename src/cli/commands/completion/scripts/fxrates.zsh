#compdef fxrates
# zsh completion of fxrates, made by: fxrates completion zsh
_fxrates() {
  local line text
  local -i directive
  local -a lines candidates
  lines=("${(@f)$("${(Q)words[1]/#\~\//$HOME/}" __complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  [[ $lines[-1] == :<-> ]] || return 1
  directive=${lines[-1]#:}
  if ((directive & 64)); then
    ((CURRENT -= ${words[(i)--]}))
    shift ${words[(i)--]} words
    _normal
    return
  fi
  for line in "${(@)lines[1,-2]}"; do
    text=${line#*$'\t'}
    [[ $line == *$'\t'* ]] || text=
    line=${line%%$'\t'*}
    candidates+=("${line//:/\\:}${text:+:$text}")
  done
  if (($#candidates == 0)); then
    ((directive & 4)) && return 1
    compset -P '*='
    _files
  elif ((directive & 2)); then
    _describe fxrates candidates -S ''
  else
    _describe fxrates candidates
  fi
}
if [[ $funcstack[1] == _fxrates ]]; then _fxrates "$@"; else compdef _fxrates fxrates; fi
