# fish completion of fxrates, made by: fxrates completion fish
function __fxrates_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
    type -q $program
    or return
    set -l lines ($program __complete -- $words[2..-1] "$current" 2>/dev/null)
    set -l directive (string match -rg '^:(\d+)$' -- $lines[-1])
    or return
    set -e lines[-1]
    if test (math "bitand($directive, 64)") -ne 0
        set -l at (contains -i -- -- $words)
        complete -C (string join ' ' -- (string escape -- $words[(math $at + 1)..-1]) "$current")
    else if set -q lines[1]
        printf '%s\n' $lines
    else if test (math "bitand($directive, 4)") -eq 0
        set -l assigned (string match -r '^--[^=]*=' -- $current)
        string replace -r -- '^' "$assigned" (__fish_complete_path (string replace -r '^--[^=]*=' '' -- $current))
    end
end
complete -c fxrates -f -a '(__fxrates_complete)'
