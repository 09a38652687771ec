import { once } from 'node:events'
import type { Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { addRows, type Queryable } from './pipeline.js'

/**
 * Rows in PostgreSQL's binary COPY format (documentation: COPY, "Binary Format"): a signature, then per row a field
 * count and each field with its length. Byte strings and integers are written and read about twice as fast as in text
 * format.
 */
const SIGNATURE = Buffer.from('5047434f50590aff0d0a000000000000000000', 'hex')
const TRAILER = Buffer.from('ffff', 'hex')
const INITIAL_BYTES = 1 << 16
const NUMERIC_GROUP_DIGITS = 4
/** Bytes up to which a loop copies faster than a call. */
const SHORT_BYTES = 40
const viewOf = ({ buffer, byteOffset, length }: Buffer): DataView => new DataView(buffer, byteOffset, length)
/** Bytes after which a chunk is sent: a row less than a fresh buffer. */
export const CHUNK_BYTES = INITIAL_BYTES - 1_024

/** Rows of one table, in a growing buffer. Call `row` with the column count, then each column in order. */
export class CopyBuffer {
  #buffer: Buffer = Buffer.allocUnsafe(INITIAL_BYTES)
  // its setters are compiled in place, those of a Buffer called
  #view = viewOf(this.#buffer)
  #length = 0
  rows = 0

  constructor() {
    SIGNATURE.copy(this.#buffer)
    this.#length = SIGNATURE.length
  }

  row(columns: number): this {
    this.#reserve(2)
    this.#put2(columns)
    this.rows += 1
    return this
  }

  int2(value: number | null): this {
    if (value === null) return this.#null()
    this.#field(2)
    this.#put2(value)
    return this
  }

  int4(value: number | null): this {
    if (value === null) return this.#null()
    this.#field(4)
    this.#put4(value)
    return this
  }

  /** An int8 from a safe integer, written as two halves, which costs much less than a bigint. */
  int8(value: number | null): this {
    if (value === null) return this.#null()
    this.#field(8)
    const high = Math.floor(value / 2 ** 32)
    this.#put4(high)
    this.#view.setUint32(this.#length, value - high * 2 ** 32)
    this.#length += 4
    return this
  }

  bigint(value: bigint | null): this {
    if (value === null) return this.#null()
    this.#field(8)
    this.#view.setBigInt64(this.#length, value)
    this.#length += 8
    return this
  }

  /**
   * A numeric from a whole number of at least 0: groups of four decimal digits, the highest first, after their count,
   * the weight of the first, a sign and a scale (numeric_recv). Trailing groups of zeros are left out, as PostgreSQL
   * does.
   */
  numeric(value: bigint): this {
    const text = value.toString()
    const groups = Math.ceil(text.length / NUMERIC_GROUP_DIGITS)
    const padded = text.padStart(groups * NUMERIC_GROUP_DIGITS, '0')
    let kept = groups
    while (kept > 0 && padded.endsWith('0000', kept * NUMERIC_GROUP_DIGITS)) kept--
    this.#field(8 + 2 * kept)
    for (const part of [kept, kept === 0 ? 0 : groups - 1, 0, 0]) {
      this.#put2(part)
    }
    for (let at = 0; at < kept * NUMERIC_GROUP_DIGITS; at += NUMERIC_GROUP_DIGITS) {
      this.#put2(Number(padded.slice(at, at + NUMERIC_GROUP_DIGITS)))
    }
    return this
  }

  bool(value: boolean): this {
    this.#field(1)
    this.#buffer[this.#length++] = value ? 1 : 0
    return this
  }

  bytea(value: Uint8Array | null): this {
    if (value === null) return this.#null()
    this.#field(value.length)
    if (value.length <= SHORT_BYTES) for (let i = 0; i < value.length; i++) this.#buffer[this.#length + i] = value[i]!
    else this.#buffer.set(value, this.#length)
    this.#length += value.length
    return this
  }

  /** Text of ASCII characters only (names). */
  ascii(value: string | null): this {
    if (value === null) return this.#null()
    this.#field(value.length)
    for (let i = 0; i < value.length; i++) this.#buffer[this.#length + i] = value.charCodeAt(i)
    this.#length += value.length
    return this
  }

  /** Number of bytes since the last `take`. */
  get bytes(): number {
    return this.#length
  }

  /** Bytes since the last `take`; later rows begin in a new buffer. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.#length)
    this.#use(Buffer.allocUnsafe(INITIAL_BYTES))
    this.#length = 0
    return taken
  }

  /** The finished COPY data. */
  finish(): Buffer {
    this.#reserve(2)
    TRAILER.copy(this.#buffer, this.#length)
    return this.#buffer.subarray(0, this.#length + 2)
  }

  #null(): this {
    this.#field(0)
    this.#view.setInt32(this.#length - 4, -1)
    return this
  }

  #field(bytes: number): void {
    this.#reserve(bytes + 4)
    this.#put4(bytes)
  }

  /** @throws RangeError for what does not fit */
  #put2(value: number): void {
    if ((value << 16) >> 16 !== value) throw new RangeError(`${value} is no integer of 2 bytes`)
    this.#view.setInt16(this.#length, value)
    this.#length += 2
  }

  /** @throws RangeError for what does not fit */
  #put4(value: number): void {
    if ((value | 0) !== value) throw new RangeError(`${value} is no integer of 4 bytes`)
    this.#view.setInt32(this.#length, value)
    this.#length += 4
  }

  #use(buffer: Buffer): void {
    this.#buffer = buffer
    this.#view = viewOf(buffer)
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#use(larger)
  }
}

/** Sends rows into a table by COPY. Does nothing when there are none. */
export async function copyRows(client: pg.ClientBase, target: string, rows: CopyBuffer): Promise<void> {
  if (rows.rows === 0) return
  const copy = startCopy(client, target)
  await copy.write(rows.finish())
  await copy.end()
}

const copyInto = (target: string): string => `COPY ${target} FROM STDIN (FORMAT binary)`

/** Starts a COPY whose rows come in chunks; the connection takes no other statement until its end. */
export function startCopy(client: pg.ClientBase, target: string) {
  const stream = client.query(copyFrom(copyInto(target)))
  const done = finished(stream)
  // a failure is thrown by the next write or by the end
  done.catch(() => {})
  return {
    write: async (data: Buffer): Promise<void> => {
      if (!stream.write(data)) await Promise.race([once(stream, 'drain'), done])
    },
    end: async (): Promise<void> => {
      stream.end()
      await done
    },
    /** Gives it up, so that the connection takes statements again. */
    fail: async (reason: Error): Promise<void> => {
      stream.destroy(reason)
      await done.catch(() => {})
    },
  }
}

/** Rows for one table. */
export interface CopyPart {
  /** Table and columns. */
  target: string
  /** Number of rows; a part without rows is left out. */
  rows: number
  /** Adds the row of an item by its position. */
  encode(to: CopyBuffer, at: number): void
}

export const copyPart = <T>(
  target: string,
  items: readonly T[],
  encode: (to: CopyBuffer, item: T) => void,
): CopyPart => ({ target, rows: items.length, encode: (to, at) => encode(to, items[at]!) })

/** Sends rows into several tables by a COPY each, in a pipeline. */
export const sendTables = (db: Queryable, parts: readonly CopyPart[]): Promise<unknown>[] =>
  parts
    .filter(({ rows }) => rows > 0)
    .map((part) => addRows(db, copyInto(part.target), (stream) => sendPart(stream, part)))

const COPY_DATA = 0x64
const COPY_DONE = Buffer.from([0x63, 0, 0, 0, 4])

function sendPart(stream: Socket, { rows, encode }: CopyPart): void {
  const to = new CopyBuffer()
  for (let at = 0; at < rows; at++) {
    encode(to, at)
    if (to.bytes < CHUNK_BYTES) continue
    send(stream, to.take())
    // the server stores them while the others are encoded
    stream.uncork()
    stream.cork()
  }
  send(stream, to.finish())
  stream.write(COPY_DONE)
}

function send(stream: Socket, rows: Buffer): void {
  const header = Buffer.allocUnsafe(5)
  header[0] = COPY_DATA
  header.writeUInt32BE(rows.length + 4, 1)
  stream.write(header)
  stream.write(rows)
}
