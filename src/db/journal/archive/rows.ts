import { entryKind } from '../../../registry/journal/entry.js'
import type { FeedRow } from '../../../registry/journal/events.js'

/** Bytes before the first row: signature, flags, length of an extension (documentation: COPY, "Binary Format"). */
const HEAD_BYTES = 19
const NO_MORE = -1

/** Fields of each row of a whole COPY in PostgreSQL's binary format; null for a null. */
function* fieldsOf(copy: Buffer): Generator<(Buffer | null)[]> {
  let at = HEAD_BYTES
  for (;;) {
    const count = copy.readInt16BE(at)
    at += 2
    if (count === NO_MORE) return
    const fields: (Buffer | null)[] = []
    for (let i = 0; i < count; i++) {
      const length = copy.readInt32BE(at)
      at += 4
      fields.push(length < 0 ? null : copy.subarray(at, at + length))
      if (length > 0) at += length
    }
    yield fields
  }
}

/** An entry of an archive, as the feed shows it. */
export interface ArchivedRow extends FeedRow {
  seq: number
}

const whole = (field: Buffer): number => (field.length === 8 ? Number(field.readBigInt64BE()) : field.readInt32BE())

/** Entries of a block. @param columns of the COPY, joined by commas @param copy whole, in binary format */
export function entriesOf(columns: string, copy: Buffer): ArchivedRow[] {
  const place = new Map(columns.split(', ').map((column, i) => [column, i]))
  const rows: ArchivedRow[] = []
  for (const fields of fieldsOf(copy)) {
    const of = (column: string): Buffer => fields[place.get(column)!]!
    rows.push({
      ...{ seq: whole(of('seq')), kind: entryKind(of('kind').readInt16BE()), atMs: whole(of('at_ms')) },
      ...{ publicFirst: whole(of('public_first')), publicCount: whole(of('public_count')) },
      ...{ actor: fields[place.get('actor')!]!, body: of('body'), effects: of('effects') },
    })
  }
  return rows
}
