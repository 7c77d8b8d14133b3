/** Everything in the bundle, as for a server without node_modules. */
// biome-ignore lint/style/noDefaultExport: Vite asks for it
export default { ssr: { noExternal: true } };
