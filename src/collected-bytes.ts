const EMPTY: Buffer = Buffer.alloc(0);

/**
 * Collects the chunks of a body. The only chunk of a short body is not copied. Several are copied into one buffer: a list of
 * chunks of one byte takes a hundred times their bytes.
 */
export class CollectedBytes {
  #buffer = EMPTY;
  /** Number of bytes so far. */
  length = 0;

  add(chunk: Uint8Array): void {
    const length = this.length + chunk.byteLength;
    if (this.length === 0 && Buffer.isBuffer(chunk)) this.#buffer = chunk;
    else this.#append(chunk, length);
    this.length = length;
  }

  /** A chunk that was not copied is full, so nothing is written into it. */
  #append(chunk: Uint8Array, length: number): void {
    if (length > this.#buffer.byteLength) {
      const larger = Buffer.allocUnsafe(this.length === 0 ? length : 2 * length);
      larger.set(this.bytes());
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.length);
  }

  /** All bytes so far, not copied. */
  bytes(): Buffer {
    return this.length === this.#buffer.byteLength ? this.#buffer : this.#buffer.subarray(0, this.length);
  }
}
