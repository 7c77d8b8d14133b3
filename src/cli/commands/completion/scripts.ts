import { readFileSync } from 'node:fs';

/**
 * The scripts that shells run at TAB. They get the candidates from `fxrates __complete`, so an old script offers the
 * commands of the installed version. The build inserts the text of the files.
 */
export const completionScripts = {
  bash: readScript('fxrates.bash'),
  zsh: readScript('fxrates.zsh'),
  fish: readScript('fxrates.fish'),
  powershell: readScript('fxrates.ps1'),
};

function readScript(name: string): string {
  return readFileSync(new URL(`./scripts/${name}`, import.meta.url), 'utf8');
}
