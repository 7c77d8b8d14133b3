/** What a project that has the package installed does with it: lines as they would stand in its package.json. */
export interface ConsumerCheck {
  readonly name: string;
  readonly line: string;
}

const STRICT = '--noEmit --strict --exactOptionalPropertyTypes --target es2023 --types node';

/** Depends on the Node that runs it. */
export const RUN_CHECKS: readonly ConsumerCheck[] = [
  { name: 'ES modules', line: 'node program.mjs' },
  { name: 'CommonJS', line: 'node program.cjs' },
  { name: 'npx', line: 'npx --no-install fxrates --version' },
  { name: 'command line', line: 'fxrates mock -- fxrates quota --json' },
];

/** The types of dependencies are checked as well: `skipLibCheck` is off. */
export const COMPILE_CHECKS: readonly ConsumerCheck[] = [
  { name: 'TypeScript, nodenext', line: `tsc ${STRICT} --module nodenext program.mts` },
  { name: 'TypeScript, nodenext, CommonJS', line: `tsc ${STRICT} --module nodenext program.cts` },
  { name: 'TypeScript, bundler', line: `tsc ${STRICT} --module esnext --moduleResolution bundler program.mts` },
];

const BUNDLE = 'esbuild client-alone.mjs --bundle --platform=node --log-level=warning';
const UNUSED = 'esbuild --bundle --platform=node --log-level=error';

export const BUNDLE_CHECKS: readonly ConsumerCheck[] = [
  {
    name: 'bundled, without packages',
    line: `${BUNDLE} --format=cjs --outfile=alone/bundle.cjs && cd alone && node bundle.cjs`,
  },
  // `sideEffects: false`: what nobody uses costs nothing.
  { name: 'unused, not in the bundle', line: `! echo "import 'fxrates'" | ${UNUSED} | grep 'class '` },
];

/** Only beside msw, whose own types do not always compile, and which may warn. */
export const MSW_RUN_CHECK: ConsumerCheck = { name: 'beside msw', line: 'node --no-warnings with-msw.mjs' };
export const MSW_COMPILE_CHECK: ConsumerCheck = {
  name: 'TypeScript beside msw',
  line: `tsc ${STRICT} --skipLibCheck --module nodenext with-msw.mts`,
};
