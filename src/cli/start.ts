export { main } from './main.ts';
export { createNodeIo } from './node-io.ts';
