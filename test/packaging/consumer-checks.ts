import * as typescript from '../helpers/typescript.ts';

/** Uses of the package in a project that has installed it: lines as in the scripts of its package.json. */
export interface ConsumerCheck {
  readonly name: string;
  readonly line: string;
}

const STRICT = '--noEmit --strict --exactOptionalPropertyTypes --target es2023 --types node';
const TSC_5 = `node '${typescript.TSC_5}' ${STRICT} --skipLibCheck`;
const TSC_7 = `node '${typescript.TSC_7}' ${STRICT}`;

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
export const JEST_CHECK: ConsumerCheck = { name: 'jest', line: 'jest --ci --silent in-jest' };

/** Beside jest and msw, with the settings that docs/testing.md shows. */
export const JEST_WITH_MSW_CHECK: ConsumerCheck = {
  name: 'jest with msw',
  line: 'jest --ci --silent --config jest-with-msw.config.cjs with-msw',
};
export const JEST = ['jest@30', 'msw@2', '@babel/preset-env@7'];

/**
 * Version 7 checks the types of dependencies as well; version 5 would take 12 s for them. How each `moduleResolution`
 * finds the types is checked by attw.
 */
export const COMPILE_CHECKS: readonly ConsumerCheck[] = [
  { name: 'TypeScript 7, ES modules and CommonJS', line: `${TSC_7} --module nodenext program.mts program.cts` },
  { name: 'TypeScript 5, ES modules and CommonJS', line: `${TSC_5} --module nodenext program.mts program.cts` },
];

/** Bundles into `file`, then runs that beside a mock server. */
function served(bundle: string, file: string, option = `--outfile=${file}`): string {
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
  // `sideEffects: false`: an unused import adds no code.
  { name: 'unused, not in the bundle', line: `! echo "import 'fxrates'" | ${UNUSED} | grep 'class '` },
];

/** With the packages of `BUNDLERS`. */
export const BUNDLER_CHECKS: readonly ConsumerCheck[] = [
  {
    name: 'bundled by webpack',
    line: served(
      'webpack ./default-transport.mjs --target node --mode none',
      'alone/webpack/main.js',
      '-o alone/webpack',
    ),
  },
  {
    name: 'bundled by Rollup',
    line: served(
      'rollup default-transport.mjs --silent --inlineDynamicImports -p node-resolve -p commonjs -p json',
      'alone/rollup.mjs',
      '-o alone/rollup.mjs',
    ),
  },
  {
    name: 'bundled by Vite for a server',
    line: served(
      'vite build --ssr default-transport.mjs --logLevel error',
      'alone/vite/default-transport.mjs',
      '--outDir alone/vite',
    ),
  },
];

/** Next replaces the global `fetch`. With the packages of `NEXT`. */
export const NEXT_CHECK: ConsumerCheck = { name: 'in a page of Next', line: 'node next-app.mjs' };
export const NEXT = ['next@16', 'react@19', 'react-dom@19'];

export const BUNDLERS = [
  ...['webpack@5', 'webpack-cli@6', 'vite@7'],
  ...['rollup@4', '@rollup/plugin-node-resolve@16', '@rollup/plugin-commonjs@28', '@rollup/plugin-json@6'],
];

/** A runtime other than Node, from npm: its command, and the possible places of its program. */
export interface OtherRuntime {
  readonly name: string;
  readonly version: string;
  readonly program: RegExp;
  readonly checks: readonly ConsumerCheck[];
}

export const OTHER_RUNTIMES: readonly OtherRuntime[] = [
  { name: 'bun', version: '1', program: /@oven\/bun-[\w-]+\/bin\/bun(\.exe)?$/, checks: runtimeChecks('bun') },
  { name: 'deno', version: '2', program: /@deno\/[\w-]+\/deno(\.exe)?$/, checks: runtimeChecks('deno run -A') },
  {
    name: 'workerd',
    version: '1',
    program: /@cloudflare\/workerd-[\w-]+\/bin\/workerd(\.exe)?$/,
    checks: [
      {
        name: 'client in a worker',
        line: 'esbuild worker.mjs --bundle --platform=node --format=esm --log-level=warning --outfile=alone/worker.mjs && fxrates mock -- node ask-worker.mjs',
      },
    ],
  },
];

function runtimeChecks(run: string): readonly ConsumerCheck[] {
  const cli = `${run} node_modules/fxrates/dist/cli/fxrates.cjs`;
  return [
    { name: 'client', line: `fxrates mock -- ${run} default-transport.mjs` },
    { name: 'client through a proxy', line: `node proxied.mjs ${run}` },
    { name: 'client and mock server, ES modules', line: `${run} program.mjs` },
    { name: 'client and mock server, CommonJS', line: `${run} program.cjs` },
    { name: 'command line', line: `${cli} mock -- ${cli} latest base=EUR --get rates.USD` },
  ];
}

/** Only beside msw, whose own types do not always compile, and which may warn. */
export const MSW_RUN_CHECK: ConsumerCheck = { name: 'beside msw', line: 'node --no-warnings with-msw.mjs' };
export const MSW_COMPILE_CHECK: ConsumerCheck = {
  name: 'TypeScript beside msw',
  line: `${TSC_7} --declaration --skipLibCheck --module nodenext with-msw.mts exported.mts`,
};
