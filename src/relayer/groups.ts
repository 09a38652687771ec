import type { JobRow } from '../db/outbox/rows.js'
import type { BlockhashTx } from '../registry/outbox.js'

/** Payments in one `settle`: two accounts each, of the 1,232 bytes that a transaction may have. */
const SETTLE_AT_ONCE = 12

type Row = JobRow<BlockhashTx>
/** Jobs that share a transaction, or are going to: at least one. */
export type Group = readonly Row[]

/** Jobs under way, by the transaction that they share. */
export function groupsOf(due: readonly Row[]): Group[] {
  const groups = new Map<string, Row[]>()
  for (const row of due) {
    const [tx] = row.txs
    if (row.state === 'queued' || !tx) continue
    const group = groups.get(tx.hash)
    if (group) group.push(row)
    else groups.set(tx.hash, [row])
  }
  return [...groups.values()]
}

/** Jobs to start, by transaction: settlements share one; what failed goes alone, so that it holds up no other. */
export function batchesOf(rows: readonly Row[]): Group[] {
  const isAlone = ({ kind, failures }: Row) => kind === 'refund' || failures > 0
  const shared = rows.filter((row) => !isAlone(row))
  const batches: Group[] = rows.filter(isAlone).map((row) => [row])
  for (let i = 0; i < shared.length; i += SETTLE_AT_ONCE) batches.push(shared.slice(i, i + SETTLE_AT_ONCE))
  return batches
}
