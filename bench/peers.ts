import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from './report.ts';

/** Calls `latest` once with the parameter `n`; resolves with the parsed response, or with the client's own result. */
export type Call = (n: number) => Promise<unknown>;

export interface Target {
  readonly origin: string;
  readonly apiKey: string;
  /** The limit to keep; `undefined` if the package must learn it, or if there is none. */
  readonly perMinute?: number | undefined;
}

/** Loads a client and returns its call. */
export type CreateCaller = (target: Target) => Call | Promise<Call>;

/** Packages of bench/package.json, which the project itself does not need. */
export const PEER_PACKAGES = join(import.meta.dirname, 'node_modules');

/** Ends the benchmark if the packages of bench/package.json are missing. */
export function requirePeers(): void {
  if (!existsSync(PEER_PACKAGES)) fail('The peers are not installed. Run: npm ci --prefix bench');
}

export function peerVersion(name: string): string {
  return JSON.parse(readFileSync(join(PEER_PACKAGES, name, 'package.json'), 'utf8')).version;
}

/** A call of peer-calls.mjs. */
export function peerCaller(name: string): CreateCaller {
  return async (target) => {
    const file: string = './peer-calls.mjs'; // no types: it needs the packages of bench/package.json
    const { peers } = (await import(file)) as { readonly peers: Readonly<Record<string, CreateCaller>> };
    const createCaller = peers[name];
    if (createCaller === undefined) throw new Error(`peer-calls.mjs has no ${name}`);
    return createCaller(target);
  };
}
