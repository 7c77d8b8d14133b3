import { Cancellation } from '../../src/client/time/abort.ts';

/** A cancellation that shows who listens to it. */
export class HeardCancellation extends Cancellation {
  readonly listeners = new Set<() => void>();

  override cancel(reason?: unknown): void {
    this.listeners.clear(); // each is called once
    super.cancel(reason);
  }

  override listen(listener: () => void): void {
    if (!this.aborted) this.listeners.add(listener);
    super.listen(listener);
  }

  override unlisten(listener: () => void): void {
    this.listeners.delete(listener);
    super.unlisten(listener);
  }
}
