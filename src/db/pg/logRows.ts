import type { Network } from '../../registry/primitives/network.js'
import { insertRows, type Rows } from './arrays.js'
import { execute, type Queryable } from './rows.js'

/** Blocks of a chain of which rows are written: confirmed ones below a block, or unconfirmed ones from it on. */
export interface Blocks {
  isConfirmed: boolean
  block: number
}

/** Rows of some blocks, and a condition on the unconfirmed rows `t` that they replace, with its values from `$3` on. */
interface LogRows<Item> extends Rows<Item> {
  replaced: string
  values: readonly unknown[]
}

/** Replaces the unconfirmed rows of blocks, which none of them holds any more, by those that they hold; in a pipeline. */
export async function writeLogRows<Item>(
  db: Queryable,
  network: Network,
  { isConfirmed, block }: Blocks,
  { replaced, values, ...rows }: LogRows<Item>,
): Promise<void> {
  const name = `${isConfirmed ? 'forget' : 'drop'}_${rows.table}`
  const text = `DELETE FROM ${rows.table} t WHERE network = $1 AND block ${isConfirmed ? '<' : '>='} $2 AND ${replaced}`
  await Promise.all([execute(db, network, { name, text }, [block, ...values]), insertRows(db, network, rows)])
}
