import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { ByteSink } from '../../registry/primitives/byteSink.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import type { RowsToInsert } from './arrays.js'

/** Number of rows from which on COPY, despite its own round trip, takes the database less time than `insertRows`. */
export const MIN_COPY_ROWS = 500

const COPY_SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1')
const NULL_LENGTH = -1
/** Marks the end of the rows, in the place where each row has its number of fields. */
const END_OF_ROWS = -1

/** Functions by PostgreSQL type that write a value in binary form, after its length in bytes. */
const FIELD_WRITERS: Readonly<Record<string, (sink: ByteSink, value: never) => void>> = {
  int2(sink, value: number) {
    sink.int32(2)
    sink.int16(value)
  },
  int4(sink, value: number) {
    sink.int32(4)
    sink.int32(value)
  },
  int8(sink, value: number | bigint) {
    sink.int32(8)
    sink.int64(value)
  },
  bool(sink, value: boolean) {
    sink.int32(1)
    sink.byte(Number(value))
  },
  bytea(sink, value: Uint8Array) {
    sink.int32(value.length)
    sink.bytes(value)
  },
  text: (sink, value: string) => FIELD_WRITERS.bytea!(sink, Buffer.from(value) as never),
}

/**
 * Buffer that all calls of `encodeRows` share, to save allocations. The function is synchronous, so they do not mix.
 */
const sharedSink = new ByteSink()

/** Encodes rows in the binary form of COPY: each field after its length. */
function encodeRows<Item>(network: Network, { columns, items }: RowsToInsert<Item>): Buffer {
  const code = NETWORK_CODE[network]
  const fields = columns.map(([, type, of]) => ({ write: FIELD_WRITERS[type]!, of }))
  sharedSink.clear()
  sharedSink.bytes(COPY_SIGNATURE)
  sharedSink.int32(0) // flags
  sharedSink.int32(0) // length of the header's extension
  for (const item of items) {
    sharedSink.int16(fields.length + 1)
    sharedSink.int32(2)
    sharedSink.int16(code)
    for (const { write, of } of fields) {
      const value = of(item)
      if (value === null || value === undefined) sharedSink.int32(NULL_LENGTH)
      else write(sharedSink, value as never)
    }
  }
  sharedSink.int16(END_OF_ROWS)
  return sharedSink.copy()
}

/** Inserts many rows of a network by COPY. The client must not be in a pipeline. */
export async function copyRows<Item>(
  client: pg.ClientBase,
  network: Network,
  rows: Omit<RowsToInsert<Item>, 'onConflict'>,
): Promise<void> {
  const { table, columns, items } = rows
  if (items.length === 0) return
  const names = columns.map(([column]) => column).join(', ')
  const stream = client.query(
    copyFrom(`COPY ${table} (network, ${names}) FROM STDIN (FORMAT binary)`),
  )
  stream.end(encodeRows(network, rows))
  await finished(stream)
}
