/** A separate process that writes into a file store repeatedly and records each accepted write. */
import { appendFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { fileStore } from '../../src/client/file-store/index.ts';

export interface WritingOptions {
  readonly root: string;
  /** Path of a file with one `AcceptedWrite` per line. */
  readonly log: string;
}

export interface AcceptedWrite {
  readonly from: string;
  readonly to: string;
  /** One more than the number in the state that was read. */
  readonly count: number;
}

const MORE_WRITES = 300;

const { root, log } = JSON.parse(process.argv[2] ?? '') as WritingOptions;
const store = fileStore(root);
let known = { version: '', count: 0 };
let accepted = 0;
let stopAt = Number.POSITIVE_INFINITY;

process.on('disconnect', () => process.exit());
process.on('message', () => {
  stopAt = accepted + MORE_WRITES;
});

for (let write = 0; accepted < stopAt; write += 1) {
  const to = `${process.pid}:${write}`;
  const count = known.count + 1;
  const state = JSON.stringify({ count, padding: 'x'.repeat(2_000) });
  const offer = { version: to, state, nowMs: Date.now(), keepMs: 600_000 };
  const reply = await store.exchange('key', known.version, offer);
  if (reply.isWritten) {
    appendFileSync(log, `${JSON.stringify({ from: known.version, to, count } satisfies AcceptedWrite)}\n`);
    accepted += 1;
    if (accepted === 50) process.send?.('under way');
  }
  known = reply.isWritten ? { version: to, count } : { version: reply.version, count: JSON.parse(reply.state).count };
  if (write % 20 === 0) await setImmediate(); // lets messages arrive
}
process.disconnect();
