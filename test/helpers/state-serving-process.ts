/** A separate process that serves a mock with a state file, and prints its address, until it is killed. */
import { createMockServer } from '../../src/mock-server/index.ts';

const mock = createMockServer({ clock: { mode: 'real', now: '2026-01-15T00:00:00Z' } });
const { key } = mock.createKey();
const server = await mock.serve({ state: process.argv[2] });
process.send?.({ key, url: server.url, adminUrl: server.adminUrl });
