import type { JobRow } from '../db/outbox/rows.js'
import { NATIVE } from '../registry/community/rules.js'
import type { BlockhashTx } from '../registry/outbox.js'

const ADDRESS_BYTES = 32
const SEQUENCE_BYTES = 8
/**
 * What a transaction of 1,232 bytes has for its payments, beside signature, fee payer, blockhash, six accounts of the
 * instruction and the compute budget.
 */
const FREE_BYTES = 888

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

/** Jobs to start, by transaction: those of a kind share one; what failed goes alone, so that it holds up no other. */
export function batchesOf(rows: readonly Row[]): Group[] {
  const batches: Group[] = rows.filter(({ failures }) => failures > 0).map((row) => [row])
  for (const kind of PAYOUT_KINDS) {
    const shared = rows.filter((row) => row.kind === kind && row.failures === 0)
    let batch: Row[] = []
    let bytes = 0
    for (const row of shared) {
      if (bytes + bytesOf(row) > FREE_BYTES) {
        batches.push(batch)
        ;[batch, bytes] = [[], 0]
      }
      batch.push(row)
      bytes += bytesOf(row)
    }
    if (batch.length > 0) batches.push(batch)
  }
  return batches
}

const PAYOUT_KINDS = ['refuse', 'release', 'settle', 'refund'] as const

/** A payment's accounts, their places in the instruction, and its sequence. */
function bytesOf({ payment }: Row): number {
  const accounts = payment?.target.kind === 'communityName' ? (payment.money.token === NATIVE ? 3 : 6) : 2
  return accounts * (ADDRESS_BYTES + 1) + SEQUENCE_BYTES
}
