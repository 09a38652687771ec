import type pg from 'pg'
import type { Entry } from '../../../registry/journal/entry.js'
import { NETWORK_CODE, type Network } from '../../../registry/primitives/network.js'
import {
  hasRefundedPurchase,
  removeRefusedPurchases,
  requeueRefusals,
} from '../../outbox/refusals.js'
import { notifyNetwork } from '../../pg/notify.js'
import { execute } from '../../pg/rows.js'
import { BEGIN_STATEMENT, liveSchemaName } from '../../pg/session.js'
import { inTransactionWithRetries } from '../../pg/tries.js'
import { withTemporarySchema } from '../exclusiveSchema.js'
import { endLeaderships, readJournalHead } from '../head.js'
import { partitionName, STATE_TABLES } from '../partitions.js'
import {
  createSchemaWithEmptyTables,
  foldStoredBatch,
  type ReplayIntoOtherSchema,
} from '../replay.js'
import { compareLiveWithRebuiltTables, type RewindReport } from './report.js'
import { lockStateTables, type RewindTarget, replaceLiveTables, rewindChainRows } from './rows.js'

/**
 * Once at most this number of entries is left to fold, the tables are locked for their replacement. The rest is folded
 * under the locks, while signed changes wait.
 */
const ENTRIES_LEFT_FOR_SWITCH = 1_000
/**
 * Timeout of the table locks, which are retried. Below PostgreSQL's deadlock_timeout (1 s), so no reader is cancelled.
 */
const LOCK_TIMEOUT_MS = 500
/** Timeout of a lock that VACUUM may hold. Above deadlock_timeout, at which PostgreSQL cancels an autovacuum. */
const VACUUM_TIMEOUT_MS = 2_000

/**
 * Removes a chain's blocks from a block on, by a new generation of the journal without their entries. Other entries
 * keep order and time. The fold fills tables in a separate schema, and one transaction replaces the live tables with
 * these. The daemon may run: the indexing leader stops writing and starts again. Without `apply` the result is
 * discarded. A rewind that is killed before the tables are replaced has no visible effect, and the next rewind removes
 * its tables and rows.
 * @throws Error when another rewind of the network runs. With `apply`, also when the chain's cursor is before the
 * block, when the tables stay locked for about a minute, and when a payment was refunded or the generation has ended
 * meanwhile
 */
export async function rewindJournal(
  pool: pg.Pool,
  target: RewindTarget,
  { apply }: { apply: boolean },
): Promise<RewindReport> {
  const { network } = target.row
  return withTemporarySchema(pool, network, 'rewind', async (writer, schema) => {
    const { generation } = await readJournalHead(writer, network)
    const keep = (entries: readonly Entry[]) =>
      removeRefusedPurchases(
        writer,
        network,
        entries.filter((entry) => !isDropped(entry, target)),
      )
    const folded = { reader: writer, writer, network, generation, done: 0, keep }
    const rebuild: Rebuild = { ...folded, schema, target, apply }
    // deletes rows that a killed rewind left: their generation never began
    await execute(
      writer,
      network,
      `DELETE FROM ${partitionName('journal', network)} WHERE network = $1 AND generation > $2`,
      [generation],
    )
    await createTables(rebuild)
    await foldAgain(rebuild, 0)
    for (const table of STATE_TABLES)
      await writer.query(`ANALYZE ${schema}.${partitionName(table, network)}`)
    // the comparison takes long, so it holds no lock: changes that come meanwhile are not in the report
    const report = await compareLiveWithRebuiltTables(writer, target, {
      schema,
      generation,
      journal: apply ? liveSchemaName(writer) : schema,
    })
    if (apply) {
      await foldAgain(rebuild, ENTRIES_LEFT_FOR_SWITCH)
      const { done } = rebuild
      await inTransactionWithRetries(writer, () => switchOver({ ...rebuild, done }))
    }
    return report
  })
}

/** A rewind's replay of the kept entries into the tables of the next generation. */
interface Rebuild extends ReplayIntoOtherSchema {
  schema: string
  target: RewindTarget
  /** False for a dry run. */
  apply: boolean
}

const isDropped = ({ position: at }: Entry, { row, block }: RewindTarget): boolean =>
  at !== null && at.chain === row.chain && at.block >= block

/**
 * Creates the tables of the new generation. Its journal rows go into the live table, where no reader sees them yet. A
 * dry run has its own journal table.
 */
async function createTables({
  writer,
  network,
  generation,
  schema,
  apply,
}: Rebuild): Promise<void> {
  const tables = apply ? STATE_TABLES : [...STATE_TABLES, 'journal' as const]
  await createSchemaWithEmptyTables(writer, network, {
    schema,
    tables,
    generation: generation + 1,
    kind: apply ? 'TABLE' : 'UNLOGGED TABLE',
    // with this constraint, PostgreSQL attaches the table as a partition without a scan
    check: `, CONSTRAINT rewind_network CHECK (network = ${NETWORK_CODE[network]})`,
  })
  await writer.query(`SET search_path = ${schema}, ${liveSchemaName(writer)}`)
}

/** Folds in batches, one transaction each, until at most `leave` entries remain. */
async function foldAgain(rebuild: Rebuild, leave: number): Promise<void> {
  const { writer, network } = rebuild
  while ((await readLiveSeq(writer, network)) - rebuild.done > leave) {
    await writer.query(BEGIN_STATEMENT)
    await foldStoredBatch(rebuild)
    await writer.query('COMMIT')
  }
}

async function readLiveSeq(writer: pg.ClientBase, network: Network, lock = ''): Promise<number> {
  const sql = `SELECT seq FROM ${liveSchemaName(writer)}.journal_heads WHERE network = $1 ${lock}`
  return (await writer.query<{ seq: number }>(sql, [NETWORK_CODE[network]])).rows[0]!.seq
}

/**
 * Folds the remaining entries and replaces the live tables by the rebuilt tables. Runs in the caller's transaction,
 * under the lock of the journal's head.
 */
async function switchOver(rebuild: Rebuild): Promise<void> {
  const { writer, network, generation, schema, target } = rebuild
  const tables = STATE_TABLES.map(
    (table) => `${liveSchemaName(writer)}.${partitionName(table, network)}`,
  )
  await writer.query(`SET LOCAL lock_timeout = ${VACUUM_TIMEOUT_MS}`)
  await writer.query(`LOCK TABLE ONLY ${tables.join(', ONLY ')} IN SHARE UPDATE EXCLUSIVE MODE`)
  await writer.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
  const end = await readLiveSeq(writer, network, 'FOR UPDATE')
  await endLeaderships(writer, network, ['index'])
  await lockStateTables(writer, network)
  while (rebuild.done < end) await foldStoredBatch(rebuild)
  // under the head's lock no relayer begins a refusal
  if (await hasRefundedPurchase(writer, network, generation + 1))
    throw new Error('a payment for a community name was refunded meanwhile: run it again.')
  await rewindChainRows(writer, target)
  await replaceLiveTables(writer, network, schema)
  await requeueRefusals(writer, network, generation + 1, Date.now())
  const { rowCount } = await writer.query(
    `UPDATE ${liveSchemaName(writer)}.journal_heads h SET generation = n.generation, feed_generation = h.feed_generation + 1, seq = n.seq, public_seq = n.public_seq, at_ms = n.at_ms,
       serial = n.serial, minimum_wei = n.minimum_wei, caught_up = false, names = 0, names_seq = 0
     FROM ${schema}.journal_heads n WHERE h.network = $1 AND n.network = $1 AND h.generation = $2`,
    [NETWORK_CODE[network], generation],
  )
  if (rowCount !== 1)
    throw new Error(`rewinding ${network}: its generation ${generation} has ended meanwhile`)
  await notifyNetwork(writer, network)
}
