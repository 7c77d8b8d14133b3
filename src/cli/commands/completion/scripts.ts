import { readFileSync } from 'node:fs';

/**
 * The scripts that shells run at TAB. They get the candidates from `fxrates __complete`, so an old script offers the
 * commands of the installed version. The build inserts the text of the files.
 */
export const bashScript = readScript('fxrates.bash');
export const zshScript = readScript('fxrates.zsh');
export const fishScript = readScript('fxrates.fish');
export const powershellScript = readScript('fxrates.ps1');

function readScript(name: string): string {
  return readFileSync(new URL(`./scripts/${name}`, import.meta.url), 'utf8');
}
