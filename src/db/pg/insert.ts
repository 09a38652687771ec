import type { Network } from '../../registry/primitives/network.js'
import { type Columns, unnestOf } from './arrays.js'
import { execute, type Queryable } from './rows.js'

/** Rows for a table of a network. */
export interface Rows<Item = unknown> {
  table: string
  columns: Columns<Item>
  items: readonly Item[]
}

/** Inserts rows of a network in one statement, whose text is the same for any number of them. Sends nothing without. */
export async function insertRows<Item>(
  db: Queryable,
  network: Network,
  { table, columns, items }: Rows<Item>,
): Promise<void> {
  if (items.length === 0) return
  const rows = unnestOf(columns, 2)
  const text = `INSERT INTO ${table} (network, ${rows.names}) SELECT $1, * FROM ${rows.rows}`
  await execute(db, network, { name: `insert_${table}`, text }, rows.values(items))
}
