import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineConfig, type Options } from 'tsup';
import * as completionScripts from './src/cli/commands/completion/scripts.ts';
import { manPage } from './src/cli/man-page.ts';
import { createProgram } from './src/cli/program.ts';
import { bundlePanel } from './src/mock-server/panel/panel-files.ts';

/** `npm run demo` builds into a folder of its own, so that it does not change the package. */
const FOLDER = process.env['FXRATES_BUILD_FOLDER'] ?? 'dist';

/** Puts the bundled control panel where `panel-files.ts` would bundle it itself. */
const panelFiles: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'panel-files',
  setup(build) {
    build.onLoad({ filter: /panel-files\.ts$/ }, async () => {
      const files = JSON.stringify(await bundlePanel());
      return { contents: `export const panelFiles = async () => (${files});`, loader: 'js' };
    });
  },
};

/** The library loads the control panel from the file of the CLI, so that the package contains it once. */
const sharedPanel: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'shared-panel',
  setup(build) {
    build.onResolve({ filter: /panel-files\.ts$/ }, () => ({ path: './cli/panel.cjs', external: true }));
  },
};

/** Puts the texts of scripts and style sheets where their modules would read them from files. */
const texts: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'texts',
  setup(build) {
    const contentsOf = (module: object) =>
      Object.entries(module).map(([name, text]) => `export const ${name} = ${JSON.stringify(text)};`);
    build.onLoad({ filter: /completion[/\\]scripts\.ts$/ }, () => ({
      contents: contentsOf(completionScripts).join('\n'),
    }));
  },
};

/**
 * What dependencies load and the CLI never uses: commander for commands that are programs of their own, chalk to find
 * out whether the terminal has colours, which the CLI decides by itself.
 */
const leftOut: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'left-out',
  setup(build) {
    build.onResolve({ filter: /^(node:child_process|#supports-color)$/ }, ({ path, importer }) =>
      /[/\\](commander|chalk)[/\\]/.test(importer) ? { path, namespace: 'left-out' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'export default {};' }));
  },
};

/** Packages in the bundle of the panel, which is text by the time the others are bundled. */
const PANEL_PACKAGES = ['htm', 'preact', 'uplot'];

/** Writes the licences of all packages that the bundles contain: each asks for its text to go with its code. */
const licenses: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'licenses',
  setup(build) {
    build.initialOptions.metafile = true;
    build.onEnd(({ metafile }) => {
      const inputs = Object.keys(metafile?.inputs ?? {});
      const bundled = inputs.flatMap((input) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []);
      const names = [...new Set([...bundled, ...PANEL_PACKAGES])].sort();
      writeFileSync(join(FOLDER, 'licenses.txt'), names.map(licenseText).join('\n\n'));
    });
  },
};

function licenseText(name: string): string {
  const folder = join(import.meta.dirname, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((path) => /^licen[cs]e/i.test(path));
  if (file === undefined) throw new Error(`${name} is bundled, and its package has no licence text.`);
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}

const LIBRARY = {
  entry: {
    index: 'src/client/index.ts',
    'file-store': 'src/client/file-store/index.ts',
    'mock-server': 'src/mock-server/index.ts',
    msw: 'src/mock-server/msw/index.ts',
    redis: 'src/client/redis/index.ts',
  },
  target: 'node20',
  outDir: FOLDER,
  external: ['msw', 'undici', 'zod'],
} satisfies Options;

/**
 * `.d.ts` and `.d.cts`: a CommonJS file may `require()` the package, and TypeScript wants types of its kind for that.
 * TypeScript 7 writes a declaration file for each module; tsup bundles them. From the sources, it would take 20 s.
 */
function types(): Options {
  const compiler = join(import.meta.dirname, 'node_modules/typescript-7/bin/tsc');
  execFileSync(process.execPath, [compiler, '-p', 'scripts/tsconfig.declarations.json'], { stdio: 'inherit' });
  const entry = Object.fromEntries(
    Object.entries(LIBRARY.entry).map(([name, source]) => [
      name,
      source.replace(/^src(.*)\.ts$/, '.declarations$1.d.ts'),
    ]),
  );
  return { ...LIBRARY, entry, format: ['esm', 'cjs'], dts: { only: true } };
}

/** The files of the CLI, each with all that it needs. A command loads two or three. */
const CLI_FILES = {
  entry: {
    fxrates: 'src/cli/bin.ts',
    complete: 'src/cli/commands/completion/complete.ts',
    main: 'src/cli/node-io.ts',
    panel: 'src/mock-server/panel/panel-files.ts',
  },
} satisfies Options;

/** An `import()` of these files or of an entry of the library stays one: the file is loaded when it is used. */
const cliFiles: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'cli-files',
  setup(build) {
    build.onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) => {
      if (kind !== 'dynamic-import') return undefined;
      const file = relative(import.meta.dirname, join(resolveDir, path));
      const nameIn = (entries: object) => Object.entries(entries).find(([, source]) => source === file)?.[0];
      const own = nameIn(CLI_FILES.entry);
      const ofLibrary = nameIn(LIBRARY.entry);
      if (own !== undefined) return { path: `./${own}.cjs`, external: true };
      return ofLibrary === undefined ? undefined : { path: `../${ofLibrary}.cjs`, external: true };
    });
  },
};

/** Restores the name of a class that refers to itself: esbuild writes `var FxRates = class _FxRates`. */
const classNames: NonNullable<Options['plugins']>[number] = {
  name: 'class-names',
  renderChunk(code) {
    const names = Array.from(code.matchAll(/\bvar (\w+) = class _\1\b/g), ([, name]) => name);
    if (names.length === 0) return undefined;
    return { code: code.replace(new RegExp(`\\b_(${names.join('|')})\\b`, 'g'), '$1') };
  },
};

/**
 * Loads a module of Node.js when it is first used: loading `node:crypto` or `node:http` takes longer than most commands.
 * esbuild has declared a variable of each at the top of its file; `require` takes its place where it is used.
 */
const lazyBuiltins: NonNullable<Options['plugins']>[number] = {
  name: 'lazy-builtins',
  renderChunk(code) {
    const modules = new Map<string, string>();
    const declared = code.replace(
      /\b(import_\w+)=((?:__toESM\()?require\("node:[\w/]+"\)(?:,1\))?)(?=[,;])/g,
      (_, variable, load) => {
        modules.set(variable, `(${load})`); // in parentheses, because `new require('x').Y()` would call `require` with `new`
        return `${variable}=0`;
      },
    );
    return { code: declared.replace(/\bimport_\w+(?=\.)/g, (variable) => modules.get(variable) ?? variable) };
  },
};

/** CommonJS that every loader reads, that of jest too: `require` in place of `import()`, and no `import.meta`. */
function asCommonJs(options: Parameters<NonNullable<Options['esbuildOptions']>>[0]): void {
  options.supported = { ...options.supported, 'dynamic-import': false };
  options.define = { ...options.define, 'import.meta.url': '__filename' };
}

/**
 * The library leaves its dependencies to npm; the CLI carries them in one bundle, because that starts faster.
 * `tsup --no-dts` leaves out the types.
 */
export default defineConfig((cli) => [
  ...(cli.dts === false ? [] : [types()]),
  {
    ...LIBRARY,
    format: ['esm', 'cjs'],
    dts: false,
    clean: ['js', 'cjs', ...(cli.dts === false ? [] : ['d.ts', 'd.cts'])].map((kind) => `${FOLDER}/*.${kind}`),
    esbuildPlugins: [sharedPanel, texts],
    esbuildOptions: (options, { format }) => format === 'cjs' && asCommonJs(options),
    plugins: [classNames],
  },
  {
    ...CLI_FILES,
    format: 'cjs', // starts faster than ES modules
    target: 'node20',
    dts: false,
    splitting: false,
    clean: true,
    outDir: `${FOLDER}/cli`,
    removeNodeProtocol: false,
    noExternal: [/^(?!undici$|msw$)/],
    external: ['msw', 'undici'],
    outExtension: () => ({ js: '.cjs' }),
    esbuildOptions: (options) => {
      options.minifyWhitespace = true;
      options.minifySyntax = true;
      asCommonJs(options);
    },
    esbuildPlugins: [cliFiles, panelFiles, texts, leftOut, licenses],
    plugins: [lazyBuiltins],
    async onSuccess() {
      mkdirSync(`${FOLDER}/man`, { recursive: true });
      writeFileSync(`${FOLDER}/man/fxrates.1`, manPage(createProgram()));
    },
  },
]);
