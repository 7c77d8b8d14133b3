# PowerShell completion of fxrates, made by: fxrates completion powershell
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
    if ($lines.Count -eq 0 -or $lines[-1] -notmatch '^:\d+$') { return }
    $lines | Select-Object -SkipLast 1 | ForEach-Object {
        $word, $description = $_ -split "`t", 2
        $text = if ($word -match '[\s;,()''``{}$@#]') { "'" + $word.Replace("'", "''") + "'" } else { $word }
        if (-not $description) { $description = $word }
        [System.Management.Automation.CompletionResult]::new($text, $word, 'ParameterValue', $description)
    }
}
