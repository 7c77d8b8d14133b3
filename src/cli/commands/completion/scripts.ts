/**
 * The scripts that shells run at TAB. They get the candidates from `fxrates __complete`, so an old script offers the
 * commands of the installed version.
 */

/** Runs in bash 3.2 as well, which macOS has. */
export const bashScript = `# bash completion of fxrates, made by: fxrates completion bash
_fxrates() {
  local line=\${COMP_LINE:0:COMP_POINT} raw= breaks prefix= gap word directive out
  local -i i at=0
  local -a words
  words=()
  # Text without spaces is one word of fxrates, even where bash splits it, at = and :
  for ((i = 0; i <= COMP_CWORD; i++)); do
    gap=\${line%%[![:space:]]*}
    line=\${line#"$gap"}
    word=\${COMP_WORDS[i]}
    if ((i == COMP_CWORD)); then word=$line; fi
    line=\${line#"$word"}
    if ((i > 0)) && [[ -z $gap ]]; then raw+=$word; words[\${#words[@]}-1]=$raw; else raw=$word; words+=("$raw"); fi
    if ((at == 0)) && [[ $raw == -- ]]; then at=i+1; fi
  done
  words=("\${words[@]//[\\"\\'\\\\]/}")
  out=$("\${words[0]/#\\~\\//$HOME/}" __complete -- "\${words[@]:1}" 2>/dev/null) || return
  directive=\${out##*:}
  out=\${out%:*}
  if ((directive & 64)); then
    if declare -F _command_offset >/dev/null; then _command_offset "$at"; return; fi
    COMPREPLY=($(compgen -A command -A file -- "\${COMP_WORDS[COMP_CWORD]}"))
    return
  fi
  # Only what follows the last break is replaced, and within quotes nothing breaks a word.
  breaks=\${COMP_WORDBREAKS//[!=:]/}
  word=\${words[\${#words[@]}-1]}
  if [[ -n $breaks && $raw != *[\\"\\']* && $word == *["$breaks"]* ]]; then prefix=\${word%"\${word##*["$breaks"]}"}; fi
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    word=\${word#"$prefix"}
    if [[ -z $word ]]; then continue; fi
    if [[ $raw != *[\\"\\']* ]]; then printf -v word %q "$word"; fi
    COMPREPLY+=("$word")
  done <<<"$out"
  if ((directive & 2)); then compopt -o nospace 2>/dev/null; fi
  if ((directive & 4)) || ((\${#COMPREPLY[@]})); then return; fi
  compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _fxrates fxrates
`;

/** Works as a file in `fpath` and when it is sourced. */
export const zshScript = `#compdef fxrates
# zsh completion of fxrates, made by: fxrates completion zsh
_fxrates() {
  local line text
  local -i directive
  local -a lines candidates
  lines=("\${(@f)$("\${(Q)words[1]/#\\~\\//$HOME/}" __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  [[ $lines[-1] == :<-> ]] || return 1
  directive=\${lines[-1]#:}
  if ((directive & 64)); then
    ((CURRENT -= \${words[(i)--]}))
    shift \${words[(i)--]} words
    _normal
    return
  fi
  for line in "\${(@)lines[1,-2]}"; do
    text=\${line#*$'\\t'}
    [[ $line == *$'\\t'* ]] || text=
    line=\${line%%$'\\t'*}
    candidates+=("\${line//:/\\\\:}\${text:+:$text}")
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
`;

export const fishScript = `# fish completion of fxrates, made by: fxrates completion fish
function __fxrates_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    type -q $program
    or return
    set -l lines ($program __complete -- $words[2..-1] "$current" 2>/dev/null)
    set -l directive (string match -rg '^:(\\d+)$' -- $lines[-1])
    or return
    set -e lines[-1]
    if test (math "bitand($directive, 64)") -ne 0
        set -l at (contains -i -- -- $words)
        complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-1]) "$current")
    else if set -q lines[1]
        printf '%s\\n' $lines
    else if test (math "bitand($directive, 4)") -eq 0
        set -l assigned (string match -r '^--[^=]*=' -- $current)
        string replace -r -- '^' "$assigned" (__fish_complete_path (string replace -r '^--[^=]*=' '' -- $current))
    end
end
complete -c fxrates -f -a '(__fxrates_complete)'
`;

/** Windows PowerShell 5 and PowerShell 7. */
export const powershellScript = `# PowerShell completion of fxrates, made by: fxrates completion powershell
Register-ArgumentCompleter -Native -CommandName fxrates -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } |
        ForEach-Object { if ($null -ne $_.Value) { [string]$_.Value } else { $_.ToString() } })
    $program = $words[0]
    $arguments = @('__complete', '--') + @($words | Select-Object -Skip 1)
    $current = $wordToComplete.Trim('"', "'")
    # Before 7.3 an empty argument gets lost on its way to a program unless it is written as two quotes.
    $isLegacy = $PSVersionTable.PSVersion -lt [version]'7.3' -or $PSNativeCommandArgumentPassing -eq 'Legacy'
    $arguments += if ($current -eq '' -and $isLegacy) { '""' } else { $current }
    $lines = @(& $program @arguments 2>$null)
    if ($lines.Count -eq 0 -or $lines[-1] -notmatch '^:\\d+$') { return }
    $lines | Select-Object -SkipLast 1 | ForEach-Object {
        $word, $description = $_ -split "\`t", 2
        $text = if ($word -match '[\\s;,()''\`\`{}$@#]') { "'" + $word.Replace("'", "''") + "'" } else { $word }
        if (-not $description) { $description = $word }
        [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $description)
    }
}
`;
