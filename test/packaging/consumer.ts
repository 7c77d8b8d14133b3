import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BundleResult, Running } from '../helpers/cli-bundle.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PROGRAMS = fileURLToPath(new URL('consumers', import.meta.url));

export interface Tarball {
  readonly path: string;
  readonly sizeBytes: number;
  readonly unpackedBytes: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

/** The package that `npm publish` would send, with the existing `dist/`. */
export async function pack(folder: string): Promise<Tarball> {
  const args = ['pack', '--json', '--ignore-scripts', '--offline', '--pack-destination', folder, ROOT];
  const { code, stdout, stderr } = await new Running('npm', args, { env: { HOME: folder } }).ended;
  if (code !== 0) throw new Error(`npm pack: ${stderr}`);
  const [{ filename, size, unpackedSize, files }] = JSON.parse(stdout);
  return { path: join(folder, filename), sizeBytes: size, unpackedBytes: unpackedSize, files };
}

/** The programs of a project, JavaScript and the same ones as TypeScript. */
export function writePrograms(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  for (const name of readdirSync(PROGRAMS)) cpSync(join(PROGRAMS, name), join(folder, name));
  cpSync(join(PROGRAMS, 'program.mjs'), join(folder, 'program.mts'));
  cpSync(join(PROGRAMS, 'program.mjs'), join(folder, 'program.cts'));
  for (const name of ['with-msw', 'exported']) cpSync(join(PROGRAMS, `${name}.mjs`), join(folder, `${name}.mts`));
}

/** Installs like npm, but without network: unpacks the package, and uses the dependencies of this repository. */
export async function installOffline(tarball: Tarball, folder: string, others: readonly string[]): Promise<void> {
  const modules = join(folder, 'node_modules');
  const target = join(modules, 'fxrates');
  mkdirSync(target, { recursive: true });
  await new Running('tar', ['-xzf', tarball.path, '-C', target, '--strip-components=1'], {}).ended;
  const { dependencies, bin } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
  for (const name of [...Object.keys(dependencies), ...others]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  mkdirSync(join(modules, '.bin'));
  for (const [name, path] of Object.entries<string>(bin)) symlinkSync(join(target, path), join(modules, '.bin', name));
}

/** Runs a line in a project as `npm run` would; esbuild is that of this repository. */
export function runLine(line: string, folder: string, node = process.execPath): Promise<BundleResult> {
  const path = [dirname(node), join(folder, 'node_modules/.bin'), join(ROOT, 'node_modules/.bin'), process.env['PATH']];
  const env = { PATH: path.join(delimiter), HOME: folder, npm_config_update_notifier: 'false' };
  return new Running('sh', ['-c', `cd "$0" && ${line}`, folder], { env }).ended;
}

/** The failure, including warnings of Node; empty after success. */
export function failureOf({ code, stdout, stderr }: BundleResult): string {
  return code === 0 && !/warning/i.test(stderr) ? '' : `exit code ${code}\n${stdout}${stderr}`;
}
