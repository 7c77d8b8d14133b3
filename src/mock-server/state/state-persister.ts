import type { DrivenClock } from '../clock/clock.ts';
import { pause } from '../clock/event-loop.ts';
import { systemNow } from '../clock/real-clock.ts';
import type { Snapshot, SnapshotOwner } from '../service/snapshot.ts';
import { readStateFile, writeStateFile } from './state-file.ts';

/** Keeps what a mock knows in a file: soon after each change, and when it is closed. */
export class StatePersister {
  readonly #path: string;
  readonly #mock: SnapshotOwner;
  #hasChanged = false;
  #saving: Promise<void> | undefined;
  #endPause: () => void = () => undefined;
  #isClosing = false;

  constructor(path: string, mock: SnapshotOwner) {
    this.#path = path;
    this.#mock = mock;
  }

  /** Takes over what the file holds, if it is there. */
  static async open(path: string, mock: SnapshotOwner, clock: DrivenClock): Promise<StatePersister> {
    const saved = await readStateFile(path);
    if (saved !== undefined) mock.restore(broughtUpToDate(saved, clock));
    return new StatePersister(path, mock);
  }

  /** Writes for the first time, which shows whether that is possible. */
  async begin(): Promise<void> {
    await this.#write();
  }

  /** Something may have changed. The first change is written at once, those that follow it closely together. */
  noteChange(): void {
    this.#hasChanged = true;
    this.#saving ??= this.#saveChanges().catch((error: unknown) => {
      process.emitWarning(error instanceof Error ? error.message : String(error), 'FxratesMockWarning');
      this.#saving = undefined;
    });
  }

  /** Writes for the last time. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#endPause();
    await this.#saving;
    await this.#write();
  }

  async #saveChanges(): Promise<void> {
    while (this.#hasChanged && !this.#isClosing) {
      this.#hasChanged = false;
      const startedAt = systemNow();
      await this.#write();
      await this.#pause(Math.max(SHORTEST_PAUSE_MS, PAUSE_PER_WRITE * (systemNow() - startedAt)));
    }
    this.#saving = undefined;
  }

  async #write(): Promise<void> {
    await writeStateFile(this.#path, { savedAt: systemNow(), snapshot: this.#mock.snapshot() });
  }

  async #pause(ms: number): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#endPause = resolve;
    });
    await Promise.race([pause(ms), ended]);
  }
}

const SHORTEST_PAUSE_MS = 200;
/** A big state takes long to write: the mock then spends a tenth of its time on it. */
const PAUSE_PER_WRITE = 9;

/** Real time went on while nobody served the mock. */
function broughtUpToDate(
  { savedAt, snapshot }: { readonly savedAt: number; readonly snapshot: Snapshot },
  { mode }: DrivenClock,
): Snapshot {
  if (mode === 'virtual' || snapshot.frozen) return snapshot;
  return { ...snapshot, now: snapshot.now + Math.max(0, systemNow() - savedAt) };
}
