import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

let bundled: ReturnType<typeof bundlePanel> | undefined;

/** The script and the style of the panel. They are bundled at the first request; in the package, tsup inserts them. */
export function panelFiles(): ReturnType<typeof bundlePanel> {
  bundled ??= bundlePanel();
  return bundled;
}

/** Bundles the panel with the libraries it uses, so that nothing is loaded from elsewhere. */
export async function bundlePanel(): Promise<{ readonly script: string; readonly style: string }> {
  const browser = new URL('./browser/', import.meta.url);
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('app.ts', browser))],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'inline',
    ignoreAnnotations: true, // package.json says that no file has side effects, but html.ts corrects the language
  });
  const style = await readFile(new URL('panel.css', browser), 'utf8');
  return { script: outputFiles[0]?.text ?? '', style };
}
