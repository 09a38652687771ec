import type { Socket } from 'node:net'
import type pg from 'pg'
import { CHUNK_BYTES, CopyBuffer } from './copy.js'

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

/**
 * Sends rows into several tables by one query of a COPY each, without waiting for the server in between: it always has
 * rows to store, while this process does other things. After a failure the server drops the rest
 * (documentation: Message Flow, "COPY Operations").
 * @param onSent called when all rows are in the socket's hands
 */
export function copyTables(client: pg.ClientBase, parts: readonly CopyPart[], onSent?: () => void): Promise<void> {
  const filled = parts.filter(({ rows }) => rows > 0)
  if (filled.length === 0) return Promise.resolve()
  return new Promise((resolve, reject) => {
    client.query(new CopyTables(filled, { onSent, resolve, reject }))
  })
}

interface Connection {
  stream: Socket
  query(text: string): void
}

const COPY_DATA = 0x64
const COPY_DONE = Buffer.from([0x63, 0, 0, 0, 4])

/** Query of the driver ("Submittable"). */
class CopyTables implements pg.Submittable {
  #parts
  #done
  #error: Error | null = null

  constructor(
    parts: readonly CopyPart[],
    done: { onSent: (() => void) | undefined; resolve(): void; reject(error: Error): void },
  ) {
    this.#parts = parts
    this.#done = done
  }

  submit(connection: unknown): void {
    const driver = connection as Connection
    try {
      driver.query(this.#parts.map(({ target }) => `COPY ${target} FROM STDIN (FORMAT binary)`).join(';'))
      for (const part of this.#parts) sendPart(driver.stream, part)
      this.#done.onSent?.()
    } catch (error) {
      // the server would wait for the other rows
      driver.stream.destroy(error as Error)
    }
  }

  handleCopyInResponse(): void {}
  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#error ??= error
    this.#done.reject(this.#error)
  }

  handleReadyForQuery(): void {
    this.#done.resolve()
  }
}

function sendPart(stream: Socket, { rows, encode }: CopyPart): void {
  const to = new CopyBuffer()
  for (let at = 0; at < rows; at++) {
    encode(to, at)
    if (to.bytes >= CHUNK_BYTES) send(stream, to.take())
  }
  send(stream, to.finish())
  stream.write(COPY_DONE)
}

function send(stream: Socket, rows: Buffer): void {
  const header = Buffer.allocUnsafe(5)
  header[0] = COPY_DATA
  header.writeUInt32BE(rows.length + 4, 1)
  stream.cork()
  stream.write(header)
  stream.write(rows)
  stream.uncork()
}
