import { readFileSync } from 'node:fs';

const bench = new URL('../', import.meta.url);

/** The packages of bench/package.json with their installed versions. */
export function peerVersions(): string {
  const { dependencies } = readJson<{ dependencies: Record<string, string> }>('package.json');
  return Object.keys(dependencies)
    .map((name) => `${name} ${readJson<{ version: string }>(`node_modules/${name}/package.json`).version}`)
    .join(', ');
}

function readJson<Content>(path: string): Content {
  return JSON.parse(readFileSync(new URL(path, bench), 'utf8'));
}
