import type { Network } from '../../registry/primitives/network.js'
import { execute, type Queryable } from './rows.js'

const BYTEA_OID = 17
const HEADER_BYTES = 20
const NULL_LENGTH = -1

/**
 * Byte strings as a parameter of type bytea[], in PostgreSQL's binary form (`array_recv`): number of dimensions, null
 * flag, element type, size and lower bound, then each element behind its length. The driver sends a Buffer unchanged;
 * its own text form costs a catch-up a tenth of its time.
 */
export function byteaArray(elements: readonly (Uint8Array | null)[]): Buffer {
  const bytes = elements.reduce((sum, element) => sum + 4 + (element?.length ?? 0), HEADER_BYTES)
  const array = Buffer.allocUnsafe(bytes)
  array.writeInt32BE(1, 0)
  array.writeInt32BE(Number(elements.includes(null)), 4)
  array.writeInt32BE(BYTEA_OID, 8)
  array.writeInt32BE(elements.length, 12)
  array.writeInt32BE(1, 16)
  let at = HEADER_BYTES
  for (const element of elements) {
    at = array.writeInt32BE(element?.length ?? NULL_LENGTH, at)
    if (element) array.set(element, at)
    at += element?.length ?? 0
  }
  return array
}

/** Columns of a statement that writes many items at once: each with its type and an item’s value, bytes for bytea. */
export type Columns<Item> = readonly (readonly [
  column: string,
  type: string,
  of: (item: Item) => unknown,
])[]

/** Columns of one type whose values are an item's properties of the same names, as `readRows` has them. */
export const named = <Item>(type: string, ...properties: (keyof Item & string)[]): Columns<Item> =>
  properties.map((property) => {
    const column = property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return [column, type, (item) => item[property]]
  })

/** An array as a parameter. Numbers, their digits and booleans need no quotes, which the driver would put. */
function arrayOf(type: string, values: readonly unknown[]): unknown {
  if (type === 'bytea') return byteaArray(values as readonly (Uint8Array | null)[])
  if (type === 'text' || type === 'jsonb') return values
  return `{${values.map((value) => value ?? 'NULL').join()}}`
}

/** Parameters from `first` on are arrays of the columns' values. */
export function unnestOf<Item>(columns: Columns<Item>, first: number) {
  return {
    names: columns.map(([column]) => column).join(', '),
    rows: `unnest(${columns.map(([, type], i) => `$${first + i}::${type}[]`).join(', ')})`,
    /** Assignments for `SET`, from the row that has the new values. */
    set: (row: string) => columns.map(([column]) => `${column} = ${row}.${column}`).join(', '),
    values: (items: readonly Item[]) => columns.map(([, type, of]) => arrayOf(type, items.map(of))),
  }
}

/** Rows for a table of a network. */
export interface Rows<Item = unknown> {
  table: string
  columns: Columns<Item>
  items: readonly Item[]
  /** Clause behind ON CONFLICT, by the assignments of the new row's columns; the row that is there already is `t`. */
  onConflict?: (set: string) => string
}

/**
 * Inserts rows of a network in one statement, whose text is the same for any number of them. Sends nothing without.
 * @returns how many it wrote
 */
export async function insertRows<Item>(
  db: Queryable,
  network: Network,
  { table, columns, items, onConflict }: Rows<Item>,
): Promise<number> {
  if (items.length === 0) return 0
  const rows = unnestOf(columns, 2)
  const conflict = onConflict ? ` ON CONFLICT ${onConflict(rows.set('excluded'))}` : ''
  const text = `INSERT INTO ${table} AS t (network, ${rows.names}) SELECT $1, * FROM ${rows.rows}${conflict}`
  return execute(db, network, { name: `insert_${table}`, text }, rows.values(items))
}

/** Blocks of a chain of which rows are written: confirmed ones below a block, or unconfirmed ones from it on. */
export interface Blocks {
  isConfirmed: boolean
  block: number
}

/** With a condition on the unconfirmed rows `t` that they replace, its values from `$3` on. */
interface LogRows<Item> extends Rows<Item> {
  replaced: string
  values: readonly unknown[]
}

/** Replaces the unconfirmed rows of blocks, which none of these holds any more, by those that they hold. */
export async function writeLogRows<Item>(
  db: Queryable,
  network: Network,
  { isConfirmed, block }: Blocks,
  { replaced, values, ...rows }: LogRows<Item>,
): Promise<void> {
  const name = `${isConfirmed ? 'forget' : 'drop'}_${rows.table}`
  const text = `DELETE FROM ${rows.table} t WHERE network = $1 AND block ${isConfirmed ? '<' : '>='} $2 AND ${replaced}`
  await Promise.all([
    execute(db, network, { name, text }, [block, ...values]),
    insertRows(db, network, rows),
  ])
}
