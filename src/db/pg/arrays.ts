import type { Network } from '../../registry/primitives/network.js'
import { execute, prepared, type Queryable } from './rows.js'

const BYTEA_OID = 17
const ARRAY_HEADER_BYTES = 20
const NULL_LENGTH = -1

/**
 * Byte strings as a parameter of type bytea[], in PostgreSQL's binary form (`array_recv`): number of dimensions, null
 * flag, element type, size and lower bound, then each element after its length. The driver sends a Buffer unchanged. As
 * text, these arrays would take a tenth of a catch-up's time.
 */
export function byteaArray(elements: readonly (Uint8Array | null)[]): Buffer {
  const bytes = elements.reduce(
    (sum, element) => sum + 4 + (element?.length ?? 0),
    ARRAY_HEADER_BYTES,
  )
  const array = Buffer.allocUnsafe(bytes)
  array.writeInt32BE(1, 0)
  array.writeInt32BE(Number(elements.includes(null)), 4)
  array.writeInt32BE(BYTEA_OID, 8)
  array.writeInt32BE(elements.length, 12)
  array.writeInt32BE(1, 16)
  let at = ARRAY_HEADER_BYTES
  for (const element of elements) {
    at = array.writeInt32BE(element?.length ?? NULL_LENGTH, at)
    if (element) array.set(element, at)
    at += element?.length ?? 0
  }
  return array
}

/**
 * Columns of a statement that writes many items. Each column has its name, its PostgreSQL type, and a function that
 * returns an item's value (bytes for bytea).
 */
export type ArrayColumns<Item> = readonly (readonly [
  column: string,
  type: string,
  of: (item: Item) => unknown,
])[]

/** Columns of one type for properties of an item: the property `createdMs` is written to the column `created_ms`. */
export const columnsFromProperties = <Item>(
  type: string,
  ...properties: (keyof Item & string)[]
): ArrayColumns<Item> =>
  properties.map((property) => {
    const column = property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return [column, type, (item) => item[property]]
  })

/** Parameters for `unnest` in a statement: one array per property, with the property's value of each item. */
export const propertyArrays = <Item>(
  items: readonly Item[],
  ...properties: (keyof Item)[]
): unknown[][] => properties.map((property) => items.map((item) => item[property]))

/**
 * Values as a parameter of an array type. The array's text is made here for numbers, decimal digits and booleans,
 * because the driver would quote each of them.
 */
function arrayParameterOf(type: string, values: readonly unknown[]): unknown {
  if (type === 'bytea') return byteaArray(values as readonly (Uint8Array | null)[])
  if (type === 'text' || type === 'jsonb') return values
  return `{${values.map((value) => value ?? 'NULL').join()}}`
}

/**
 * Parts of a statement that reads many items from array parameters, one for each column. `rows` is the call of
 * `unnest`, `names` the list of its columns, and `values` makes the parameters.
 * @param first number of the first parameter
 */
export function unnestSql<Item>(columns: ArrayColumns<Item>, first: number) {
  return {
    names: columns.map(([column]) => column).join(', '),
    rows: `unnest(${columns.map(([, type], i) => `$${first + i}::${type}[]`).join(', ')})`,
    /** Assignments for `SET`, from the table alias that has the new values. */
    set: (row: string) => columns.map(([column]) => `${column} = ${row}.${column}`).join(', '),
    values: (items: readonly Item[]) =>
      columns.map(([, type, of]) => arrayParameterOf(type, items.map(of))),
  }
}

/** Rows for `insertRows`, which also fills the table's column `network`: `columns` must not have it. */
export interface RowsToInsert<Item = unknown> {
  table: string
  columns: ArrayColumns<Item>
  items: readonly Item[]
  /** Returns what follows ON CONFLICT. `set` assigns all columns of the new row. The existing row is `t`. */
  onConflict?: (set: string) => string
}

/**
 * Inserts rows of a network in one statement, whose text does not depend on the number of rows. Sends nothing without
 * rows.
 * @returns how many rows it wrote
 */
export async function insertRows<Item>(
  db: Queryable,
  network: Network,
  { table, columns, items, onConflict }: RowsToInsert<Item>,
): Promise<number> {
  if (items.length === 0) return 0
  const rows = unnestSql(columns, 2)
  const conflict = onConflict ? ` ON CONFLICT ${onConflict(rows.set('excluded'))}` : ''
  const text = `INSERT INTO ${table} AS t (network, ${rows.names}) SELECT $1, * FROM ${rows.rows}${conflict}`
  return execute(db, network, prepared(text), rows.values(items))
}

/**
 * Blocks of a chain whose unconfirmed rows are replaced: the blocks before `block` that are confirmed now
 * (`isConfirmed`), or the unconfirmed blocks from `block` on.
 */
export interface RewrittenBlocks {
  isConfirmed: boolean
  block: number
  /** True where the caller knows that the table has no unconfirmed row of these blocks: nothing is deleted. */
  isKnownEmpty?: boolean
}

/**
 * Rows made from a chain's blocks. `replaced`: SQL condition on the stored rows `t` to replace, which has to exclude
 * confirmed rows. Its `values` begin at `$3`.
 */
interface BlockRows<Item> extends RowsToInsert<Item> {
  replaced: string
  values: readonly unknown[]
}

/**
 * Deletes the rows of the rewritten blocks that meet the condition `replaced`, and inserts the given rows.
 */
export async function replaceUnconfirmedRows<Item>(
  db: Queryable,
  network: Network,
  { isConfirmed, block, isKnownEmpty = false }: RewrittenBlocks,
  { replaced, values, ...rows }: BlockRows<Item>,
): Promise<void> {
  const text = `DELETE FROM ${rows.table} t WHERE network = $1 AND block ${isConfirmed ? '<' : '>='} $2 AND ${replaced}`
  await Promise.all([
    isKnownEmpty || execute(db, network, prepared(text), [block, ...values]),
    insertRows(db, network, rows),
  ])
}
