import type { DrivenClock } from '../clock/clock.ts';
import { pause } from '../clock/event-loop.ts';
import { systemNow } from '../clock/real-clock.ts';
import { MockServerError, within } from '../mock-server-error.ts';
import type { Snapshot, SnapshotOwner } from '../service/snapshot.ts';
import { readStateFile, writeStateFile } from './state-file.ts';
import { lockState, type StateLock } from './state-lock.ts';

/** Writes the state of a mock to a file, soon after each change and when the mock is closed. */
export class StatePersister {
  readonly #path: string;
  readonly #mock: SnapshotOwner;
  readonly #lock: StateLock;
  #hasChanged = false;
  #saving: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(path: string, mock: SnapshotOwner, lock: StateLock) {
    this.#path = path;
    this.#mock = mock;
    this.#lock = lock;
  }

  /**
   * Locks the file and restores its state, if the file exists. Throws `MockServerError` with code `state_in_use` if
   * another server uses it.
   */
  static async open(path: string, mock: SnapshotOwner, clock: DrivenClock): Promise<StatePersister> {
    const lock = await lockState(path);
    try {
      const saved = await readStateFile(path);
      if (saved !== undefined) within(path, () => mock.restore(broughtUpToDate(saved, clock)));
      const persister = new StatePersister(path, mock, lock);
      await persister.#write(); // throws if the file cannot be written
      return persister;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** The state may have changed. The first change is written immediately; changes soon after it are written together. */
  noteChange(): void {
    this.#hasChanged = true;
    this.#saving ??= this.#saveChanges().catch((error: unknown) => {
      process.emitWarning(error instanceof Error ? error.message : String(error), 'FxratesMockWarning');
      this.#saving = undefined;
    });
  }

  /** Writes for the last time. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#saving;
    await this.#write().finally(() => this.#lock.release());
  }

  async #saveChanges(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#hasChanged && !signal.aborted) {
      this.#hasChanged = false;
      const startedAt = systemNow();
      await this.#write();
      await pause(Math.max(SHORTEST_PAUSE_MS, PAUSE_PER_WRITE * (systemNow() - startedAt)), signal);
    }
    this.#saving = undefined;
  }

  /** Unlocks the file without writing to it. */
  async abandon(): Promise<void> {
    await this.#lock.release();
  }

  async #write(): Promise<void> {
    if (await this.#lock.isLost()) {
      const text = `The state file ${this.#path} is now in use by another server; this server no longer writes to it.`;
      throw new MockServerError(text, { code: 'state_in_use' });
    }
    await writeStateFile(this.#path, { savedAt: systemNow(), snapshot: this.#mock.snapshot() });
  }
}

const SHORTEST_PAUSE_MS = 200;
/** The pause after a write is nine times as long, so writing a large state takes a tenth of the time. */
const PAUSE_PER_WRITE = 9;

/** Adds the real time that has passed since the snapshot was written. */
function broughtUpToDate(
  { savedAt, snapshot }: { readonly savedAt: number; readonly snapshot: Snapshot },
  { mode }: DrivenClock,
): Snapshot {
  if (mode === 'virtual' || snapshot.frozen) return snapshot;
  return { ...snapshot, now: snapshot.now + Math.max(0, systemNow() - savedAt) };
}
