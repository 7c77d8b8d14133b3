/** Collects the chunks of a body in one buffer: a list of chunks of one byte takes a hundred times their bytes. */
export class CollectedBytes {
  #buffer = Buffer.alloc(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.byteLength;
    if (length > this.#buffer.byteLength) {
      const larger = Buffer.allocUnsafe(this.#length === 0 ? length : 2 * length);
      larger.set(this.bytes());
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
  }

  /** All bytes so far, not copied. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}
