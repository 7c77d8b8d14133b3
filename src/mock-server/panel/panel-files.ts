import type { PanelFiles } from './bundle-panel.ts';

let bundled: Promise<PanelFiles> | undefined;

/** The panel's script and style. From sources they are bundled when first asked for; tsup puts them in here instead. */
export async function panelFiles(): Promise<PanelFiles> {
  bundled ??= import('./bundle-panel.ts').then(({ bundlePanel }) => bundlePanel());
  return await bundled;
}
