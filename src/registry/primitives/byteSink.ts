const INITIAL_BUFFER_BYTES = 4_096

/** Writer of consecutive bytes, with integers big-endian. Its buffer is reused after `clear()`. */
export class ByteSink {
  #buffer = Buffer.alloc(INITIAL_BUFFER_BYTES)
  #length = 0

  /** Forgets the written bytes. */
  clear(): void {
    this.#length = 0
  }

  /** Writes one byte. @param value 0 to 255 */
  byte(value: number): void {
    this.#length = this.#ensureRoom(1).writeUInt8(value, this.#length)
  }

  /** Writes a signed integer of two bytes. */
  int16(value: number): void {
    this.#length = this.#ensureRoom(2).writeInt16BE(value, this.#length)
  }

  /** Writes a signed integer of four bytes. */
  int32(value: number): void {
    this.#length = this.#ensureRoom(4).writeInt32BE(value, this.#length)
  }

  /** Writes an integer of eight bytes. @param value safe integer, or signed bigint */
  int64(value: number | bigint): void {
    const buffer = this.#ensureRoom(8)
    if (typeof value === 'bigint') this.#length = buffer.writeBigInt64BE(value, this.#length)
    else {
      buffer.writeInt32BE(Math.floor(value / 2 ** 32), this.#length)
      this.#length = buffer.writeUInt32BE(value >>> 0, this.#length + 4)
    }
  }

  bytes(value: Uint8Array): void {
    this.#ensureRoom(value.length).set(value, this.#length)
    this.#length += value.length
  }

  /** Writes a text whose characters are a byte each. */
  latin1(value: string): void {
    this.#length += this.#ensureRoom(value.length).write(value, this.#length, 'latin1')
  }

  /** Copies the written bytes, because later writes reuse the buffer. */
  copy(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length))
  }

  /** Enlarges the buffer if it has no room for `length` more bytes. @returns the buffer */
  #ensureRoom(length: number): Buffer {
    const needed = this.#length + length
    if (needed > this.#buffer.length) {
      const larger = Buffer.alloc(2 * needed)
      larger.set(this.#buffer.subarray(0, this.#length))
      this.#buffer = larger
    }
    return this.#buffer
  }
}
