import { PATIENT } from '../helpers/cli-bundle.ts';
import * as typescript from '../helpers/typescript.ts';

/** Uses of the package in a project that has installed it: lines as in the scripts of its package.json. */
export interface ConsumerCheck {
  readonly name: string;
  readonly line: string;
}

const STRICT = '--noEmit --strict --exactOptionalPropertyTypes --target es2023 --types node';
const TSC_5 = `node '${typescript.TSC_5}' ${STRICT} --skipLibCheck`;
const TSC_7 = `node '${typescript.TSC_7}' ${STRICT}`;
const ENTRIES = ['fxrates', 'fxrates/file-store', 'fxrates/mock-server', 'fxrates/probe', 'fxrates/redis'];
const IMPORTS = ENTRIES.map((entry) => `import '${entry}';`).join(' ');

/** Depends on the version of Node. */
export const RUN_CHECKS: readonly ConsumerCheck[] = [
  { name: 'ES modules', line: 'node program.mjs' },
  { name: 'CommonJS', line: 'node program.cjs' },
  { name: 'several copies in one process', line: 'node copies.cjs' },
  { name: 'npx', line: 'npx --no-install fxrates --version' },
  { name: 'command line', line: 'fxrates mock -- fxrates quota --json' },
  { name: 'client through a proxy', line: 'node proxied.mjs node' },
];

/** Beside jest, without flags and settings. */
export const JEST_CHECK: ConsumerCheck = { name: 'jest', line: `jest --ci --silent ${PATIENT} in-jest` };

/**
 * Version 7 checks the types of dependencies as well; version 5 would take 12 s for them. How each `moduleResolution`
 * finds the types is checked by attw.
 */
export const COMPILE_CHECKS: readonly ConsumerCheck[] = [
  { name: 'TypeScript 7, ES modules and CommonJS', line: `${TSC_7} --module nodenext program.mts program.cts` },
  {
    name: 'TypeScript 7, without @types/node',
    line: `echo "${IMPORTS}" > imports.mts && node '${typescript.TSC_7}' --noEmit --strict --target es2022 --module nodenext imports.mts`,
  },
  { name: 'TypeScript 5, ES modules and CommonJS', line: `${TSC_5} --module nodenext program.mts program.cts` },
];

/** Bundles into `file`, then runs that beside a mock server. */
export function served(bundle: string, file: string, option = `--outfile=${file}`): string {
  return `${bundle} ${option} && fxrates mock -- node ${file}`;
}

const BUNDLE = 'esbuild client-alone.mjs --bundle --platform=node --log-level=warning';
const UNUSED = 'esbuild --bundle --platform=node --log-level=error';

export const BUNDLE_CHECKS: readonly ConsumerCheck[] = [
  {
    name: 'bundled, without packages',
    line: `${BUNDLE} --format=cjs --outfile=alone/bundle.cjs && cd alone && node bundle.cjs`,
  },
  ...['cjs', 'esm'].map((format) => ({
    name: `bundled by esbuild, ${format}`,
    line: served(
      `esbuild default-transport.mjs --bundle --platform=node --log-level=warning --format=${format}`,
      `alone/esbuild.${format === 'cjs' ? 'cjs' : 'mjs'}`,
    ),
  })),
  {
    name: 'client and mock server, bundled by esbuild as CommonJS',
    line: 'esbuild program.mjs --bundle --platform=node --log-level=error --outfile=alone/program.cjs && node alone/program.cjs',
  },
  // `sideEffects: false`: an unused import adds no code.
  { name: 'unused, not in the bundle', line: `! echo "import 'fxrates'" | ${UNUSED} | grep 'class '` },
  {
    name: 'FxRatesError alone, in a bundle of less than 8 kB',
    line: smallerThan(8_000, `echo "${importOf('FxRatesError')}" | ${UNUSED} --format=esm`),
  },
  {
    name: 'the client, in a bundle of less than 400 kB without undici',
    line: smallerThan(400_000, `echo "${importOf('FxRates')}" | ${UNUSED} --format=esm --external:undici`),
  },
];

/** A program that uses one export. */
export function importOf(name: string): string {
  return `import { ${name} } from 'fxrates'; console.log(${name});`;
}

/** Succeeds if the command writes less than so many bytes. */
export function smallerThan(bytes: number, command: string): string {
  return `size=$(${command} | wc -c) && echo "$size bytes" && test "$size" -gt 100 && test "$size" -lt ${bytes}`;
}

/** Only beside msw, whose own types do not always compile, and which may warn. */
export const MSW_RUN_CHECK: ConsumerCheck = { name: 'beside msw', line: 'node --no-warnings with-msw.mjs' };
export const MSW_COMPILE_CHECK: ConsumerCheck = {
  name: 'TypeScript beside msw',
  line: `${TSC_7} --declaration --skipLibCheck --module nodenext with-msw.mts exported.mts`,
};
