import type pg from 'pg'
import { JOB_STATE } from '../../../registry/outbox.js'
import { PAYMENT_STATE } from '../../../registry/payment/payment.js'
import { NETWORK_CODE, type Network } from '../../../registry/primitives/network.js'
import type { ChainRow } from '../../chains/chains.js'
import { REOPENED_JOB_STATE_SQL } from '../../outbox/refusals.js'
import { IS_JOB_UNSENT_SQL } from '../../payments/refused.js'
import { notifyNetwork } from '../../pg/notify.js'
import { execute, type Queryable, query } from '../../pg/rows.js'
import { liveSchemaName } from '../../pg/session.js'
import { lockJournalHead } from '../head.js'
import { partitionName, STATE_TABLES } from '../partitions.js'

/** Blocks of a chain to drop: all from `block` on. */
export interface RewindTarget {
  row: ChainRow
  isHub: boolean
  /** First dropped block. */
  block: number
  /** Hash of the block before `block` on the present chain. Null for the first block. */
  parentHash: Buffer | null
  /** Time of the block before `block`, Unix ms. 0 when unknown. */
  parentMs: number
}

/**
 * A stored replacement of a transaction is deleted, and found again, if the transaction was last seen at most this long
 * before the dropped blocks, ms.
 */
const REPLACED_WITHIN_MS = 86_400_000
/**
 * Margin for comparisons of stored times with times of blocks, ms. It covers clock skew against the chain, and the
 * delay with which `last_seen_ms` is written (`storeTxSighting`).
 */
const CLOCK_MARGIN_MS = 60_000

/** Locks the tables that `replaceLiveTables` replaces. The caller has locked the journal's head. */
export async function lockStateTables(client: pg.ClientBase, network: Network): Promise<void> {
  const live = liveSchemaName(client)
  const both = STATE_TABLES.flatMap((table) => [
    `${live}.${table}`,
    `${live}.${partitionName(table, network)}`,
  ])
  await client.query(`LOCK TABLE ONLY ${both.join(', ONLY ')} IN ACCESS EXCLUSIVE MODE`)
}

/** Replaces the live tables by the rebuilt tables of `schema`. The caller has locked them (`lockStateTables`). */
export async function replaceLiveTables(
  client: pg.ClientBase,
  network: Network,
  schema: string,
): Promise<void> {
  const live = liveSchemaName(client)
  for (const table of STATE_TABLES) {
    const name = partitionName(table, network)
    await client.query(`ALTER TABLE ${live}.${table} DETACH PARTITION ${live}.${name}`)
    await client.query(`DROP TABLE ${live}.${name}`)
    await client.query(`ALTER TABLE ${schema}.${name} SET SCHEMA ${live}`)
    await client.query(
      `ALTER TABLE ${live}.${table} ATTACH PARTITION ${live}.${name} FOR VALUES IN (${NETWORK_CODE[network]})`,
    )
    await client.query(`ALTER TABLE ${live}.${name} DROP CONSTRAINT rewind_network`)
  }
}

/**
 * Rewinds a chain's rows outside the journal: cursor and halt, unconfirmed blocks with their entries (table `facts`),
 * messages, receipts, credits, payments, verdicts. Jobs and nonces belong to no generation and stay, as do messages
 * that the hub has or may have received. An unsent job is deleted with its message. Jobs that may have ended in a
 * dropped block are reopened.
 * @throws Error where the chain's cursor is before `block`
 */
export async function rewindChainRows(client: pg.ClientBase, target: RewindTarget): Promise<void> {
  const { row, block, parentHash, parentMs } = target
  const { network, chain } = row
  const run = (text: string, ...values: unknown[]) => execute(client, network, text, values)
  const moved = await run(
    'UPDATE chains SET next_block = $3, parent_hash = $4, halted = NULL WHERE network = $1 AND chain = $2 AND next_block >= $3',
    chain,
    block,
    parentHash,
  )
  if (moved !== 1)
    throw new Error(`rewinding chain "${row.label}": it stands before block ${block}`)
  await run('DELETE FROM facts WHERE network = $1 AND chain = $2', chain)
  await run(
    'DELETE FROM tail_blocks WHERE network = $1 AND chain = $2 AND block >= $3',
    chain,
    block,
  )
  await run(
    `UPDATE tracked_txs SET verdict = NULL, replaced_by = NULL WHERE ${STALE_VERDICTS_SQL}`,
    chain,
    parentMs - CLOCK_MARGIN_MS,
    parentMs - REPLACED_WITHIN_MS,
  )
  await reopenJobs(client, target)
  // The indexer reads these payments again with their blocks. A payment keeps its id, so its jobs stay.
  const seen = `DELETE FROM payments WHERE network = $1 AND chain = $2 AND (block >= $3 OR state = ${PAYMENT_STATE.seen})`
  await run(seen, chain, block)
  const ended = 'network = $1 AND chain = $2 AND outcome_block >= $3'
  await run(`UPDATE payments SET outcome = NULL, outcome_block = NULL WHERE ${ended}`, chain, block)
  if (target.isHub) {
    await run('DELETE FROM received WHERE network = $1 AND (block >= $2 OR NOT confirmed)', block)
    await run('DELETE FROM hub_credits WHERE network = $1 AND block >= $2', block)
  } else {
    const jobs =
      'DELETE FROM jobs j USING messages m WHERE j.network = m.network AND j.subject = m.guid'
    await run(`${jobs} AND ${IS_JOB_UNSENT_SQL} AND ${VANISHING_MESSAGES_SQL}`, chain, block)
    await run(`DELETE FROM messages m WHERE ${VANISHING_MESSAGES_SQL}`, chain, block)
  }
}

/**
 * SQL condition on transactions whose stored verdict or replacement may depend on the dropped blocks, since they were
 * last seen near these blocks or later. `$3` and `$4`: lowest `last_seen_ms` of transactions with a verdict, and of
 * replaced transactions.
 */
const STALE_VERDICTS_SQL = `network = $1 AND chain = $2 AND (verdict IS NOT NULL OR replaced_by IS NOT NULL)
  AND last_seen_ms >= CASE WHEN replaced_by IS NULL THEN $3::int8 ELSE $4::int8 END`

/**
 * SQL condition on a spoke's messages that are deleted and read again. Parameters: network, chain, block. Messages that
 * the hub has or may have received stay, with their jobs.
 */
const VANISHING_MESSAGES_SQL = `m.network = $1 AND m.chain = $2 AND (m.block >= $3 OR NOT m.confirmed)
  AND NOT EXISTS (SELECT 1 FROM received r WHERE r.network = m.network AND r.guid = m.guid)
  AND NOT EXISTS (SELECT FROM jobs j WHERE j.network = m.network AND j.subject = m.guid AND NOT (${IS_JOB_UNSENT_SQL}))`

/**
 * SQL condition on a spoke's messages of dropped blocks that a rewind keeps, since the hub has or may have received
 * them. Parameters: network, chain, block.
 */
export const RETAINED_MESSAGES_SQL = `m.network = $1 AND m.chain = $2 AND m.block >= $3 AND NOT (${VANISHING_MESSAGES_SQL})`

/**
 * SQL condition on jobs that may have ended in a dropped block (from `$3` on). For a job without a stored block number,
 * the time of its last change decides (from `$4` on, ms).
 */
const ENDED_JOBS_SQL = `j.network = $1 AND j.chain = $2 AND j.state = ${JOB_STATE.confirmed} AND (
  (j.included->>'block')::int8 >= $3
  OR j.included IS NULL AND j.updated_ms >= $4
  OR EXISTS (SELECT FROM received r WHERE r.network = j.network AND r.guid = j.subject AND r.block >= $3))`

/**
 * Reopens jobs that may have ended in a dropped block: the receipt of a job that holds a nonce is read again, any other
 * job is queued again. A reopened job whose effect is still on the chain ends again.
 */
async function reopenJobs(
  client: pg.ClientBase,
  { row, isHub, block, parentMs }: RewindTarget,
): Promise<void> {
  const { network, chain } = row
  const reopened = `UPDATE jobs j SET state = ${REOPENED_JOB_STATE_SQL}, next_ms = 0, version = j.version + 1 WHERE ${ENDED_JOBS_SQL}`
  await execute(client, network, reopened, [chain, block, parentMs - CLOCK_MARGIN_MS])
  if (!isHub) return
  const settled = `UPDATE messages m SET settled = false FROM received r
     WHERE m.network = $1 AND m.settled AND r.network = m.network AND r.guid = m.guid AND r.block >= $2`
  await execute(client, network, settled, [block])
}

/**
 * Removes a chain's rows from a block on, in a transaction of the indexing leader. For a local chain that restarted
 * without its newest blocks. Journal, generation and page tokens stay.
 * @returns false, with nothing removed, where the journal has entries of those blocks
 * @throws LostLeadershipError; Error where the chain's cursor is before the block
 */
export async function removeNewestChainRows(
  client: pg.ClientBase,
  target: RewindTarget,
  epoch: number,
): Promise<boolean> {
  const { network } = target.row
  await lockJournalHead(client, network, epoch)
  if (await hasEntries(client, target)) return false
  await rewindChainRows(client, target)
  await notifyNetwork(client, network)
  return true
}

/** True if the current journal has entries of the chain's dropped blocks. */
async function hasEntries(db: Queryable, { row, block }: RewindTarget): Promise<boolean> {
  const text = `SELECT EXISTS (SELECT FROM journal_heads h JOIN journal j ON j.network = h.network
      AND j.generation = h.generation AND j.chain = $2 AND j.block >= $3
    WHERE h.network = $1) AS found`
  return (await query<{ found: boolean }>(db, row.network, text, [row.chain, block]))[0]!.found
}
