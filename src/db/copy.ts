import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/**
 * Rows in PostgreSQL's binary COPY format (documentation: COPY, "Binary Format"): a signature, then a row as a field count
 * and each field with its length. About twice as fast to write and to read as text for byte strings and integers.
 */
const SIGNATURE = Buffer.from('5047434f50590aff0d0a000000000000000000', 'hex')
const TRAILER = Buffer.from('ffff', 'hex')
const INITIAL_BYTES = 1 << 16

/** One table's rows, grown in place. Call `row` with the column count, then each column in order. */
export class CopyBuffer {
  #buffer: Buffer
  #length = 0
  rows = 0

  /** @param bytes what the rows will take, about: growing copies them */
  constructor(bytes = INITIAL_BYTES) {
    this.#buffer = Buffer.allocUnsafe(Math.max(INITIAL_BYTES, bytes))
    SIGNATURE.copy(this.#buffer)
    this.#length = SIGNATURE.length
  }

  row(columns: number): this {
    this.#reserve(2)
    this.#length = this.#buffer.writeInt16BE(columns, this.#length)
    this.rows += 1
    return this
  }

  int2(value: number | null): this {
    if (value === null) return this.#null()
    this.#field(2)
    this.#length = this.#buffer.writeInt16BE(value, this.#length)
    return this
  }

  int4(value: number | null): this {
    if (value === null) return this.#null()
    this.#field(4)
    this.#length = this.#buffer.writeInt32BE(value, this.#length)
    return this
  }

  /** An int8 from a safe integer, written as two halves: much cheaper than through a bigint. */
  int8(value: number | null): this {
    if (value === null) return this.#null()
    this.#field(8)
    const high = Math.floor(value / 2 ** 32)
    this.#length = this.#buffer.writeInt32BE(high, this.#length)
    this.#length = this.#buffer.writeUInt32BE(value - high * 2 ** 32, this.#length)
    return this
  }

  bigint(value: bigint | null): this {
    if (value === null) return this.#null()
    this.#field(8)
    this.#length = this.#buffer.writeBigInt64BE(value, this.#length)
    return this
  }

  bool(value: boolean): this {
    this.#field(1)
    this.#buffer[this.#length++] = value ? 1 : 0
    return this
  }

  bytes(value: Uint8Array | null): this {
    if (value === null) return this.#null()
    this.#field(value.length)
    this.#buffer.set(value, this.#length)
    this.#length += value.length
    return this
  }

  /** Text of ASCII characters only (names). */
  ascii(value: string | null): this {
    if (value === null) return this.#null()
    this.#field(value.length)
    this.#length += this.#buffer.write(value, this.#length, 'latin1')
    return this
  }

  /** The finished COPY data. */
  finish(): Buffer {
    this.#reserve(2)
    TRAILER.copy(this.#buffer, this.#length)
    return this.#buffer.subarray(0, this.#length + 2)
  }

  #null(): this {
    this.#reserve(4)
    this.#length = this.#buffer.writeInt32BE(-1, this.#length)
    return this
  }

  #field(bytes: number): void {
    this.#reserve(bytes + 4)
    this.#length = this.#buffer.writeInt32BE(bytes, this.#length)
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}

/** Sends rows into a table by COPY. Does nothing when there are none. */
export async function copyRows(client: pg.ClientBase, target: string, rows: CopyBuffer): Promise<void> {
  if (rows.rows === 0) return
  const stream = client.query(copyFrom(`COPY ${target} FROM STDIN (FORMAT binary)`))
  const done = finished(stream)
  if (!stream.write(rows.finish())) await Promise.race([once(stream, 'drain'), done])
  stream.end()
  await done
}
