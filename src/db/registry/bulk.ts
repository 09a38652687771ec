import type { Network } from '../../registry/primitives/network.js'
import { type Leaves, type Prepared, prepare, versionOf } from '../pg/prepared.js'
import type { Queryable } from '../pg/rows.js'

/** Inputs from which on the time of a second round trip's start is little beside what a half saves. */
const HALVED_FROM = 200

/** Rows that a statement finds for inputs, the elements of its parameters; `ord` is an input's place, from 1. */
export type Bulk<Row> = (
  db: Queryable,
  network: Network,
  columns: readonly (readonly unknown[])[],
) => Promise<(Row & { ord: number })[]>

/**
 * Prepares a statement about many inputs. Of many, two connections find a half each, since a statement keeps but one
 * processor busy. Where what is public changed between the halves, one statement finds all: an answer is of one state.
 */
export function prepareBulk<Row>(name: string, text: (leaves: Leaves) => string): Bulk<Row> {
  type Found = Row & { ord: number }
  const whole = prepare<Found>(name, text)
  const half: Prepared<Found & { version: string }> = prepare(
    `${name}_half`,
    (l) => `SELECT h.version, found.* FROM (${versionOf(l)}) h LEFT JOIN (${text(l)}) found ON true`,
  )
  return async (db, network, columns) => {
    const count = columns[0]!.length
    if (count < HALVED_FROM) return whole(db, network, columns)
    const middle = Math.ceil(count / 2)
    const read = (from: number, to: number) =>
      half(
        db,
        network,
        columns.map((column) => column.slice(from, to)),
      )
    const [first, second] = await Promise.all([read(0, middle), read(middle, count)])
    if (first[0]?.version !== second[0]?.version) return whole(db, network, columns)
    for (const row of second) if (row.ord !== null) row.ord += middle
    return [...first, ...second].filter(({ ord }) => ord !== null)
  }
}

/**
 * Reads what belongs to inputs, each of which is asked for once: a request that repeats one would multiply its time.
 * @param read rows of distinct inputs, with their position from 1
 * @returns one element per input, in their order; null where there is no row
 */
export async function readOnce<Input, Row extends { ord: number }>(
  inputs: readonly Input[],
  keyOf: (input: Input) => string,
  read: (distinct: Input[]) => Promise<Row[]>,
): Promise<(Omit<Row, 'ord'> | null)[]> {
  if (inputs.length === 0) return []
  const keys = inputs.map(keyOf)
  const distinct = new Map(inputs.map((input, i) => [keys[i]!, input]))
  const asked = [...distinct.keys()]
  const found = new Map<string, Omit<Row, 'ord'>>()
  for (const { ord, ...row } of await read([...distinct.values()])) found.set(asked[ord - 1]!, row)
  return keys.map((key) => found.get(key) ?? null)
}
