import type pg from 'pg'
import { foldEntriesToRows, rowKeysOfEntries } from '../../registry/fold/index.js'
import type { ChangeRefusal } from '../../registry/fold/refusal.js'
import type { LoadedRegistryRows, RowChanges } from '../../registry/fold/rows.js'
import { encodeChange, type SignedChange } from '../../registry/journal/change.js'
import { type DecodedEntry, decodeEntry } from '../../registry/journal/decode.js'
import { mapKey } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { lockLiveSession } from '../auth/sessions.js'
import { notifyNetwork } from '../pg/notify.js'
import { partitionName } from '../pg/partitions.js'
import { inPipeline } from '../pg/pipeline.js'
import { type Deadline, inPipelinedTransaction } from '../pg/pool.js'
import { prepared, type Queryable, query } from '../pg/rows.js'
import { isLockTimeoutError } from '../pg/unavailable.js'
import { writeRowChanges } from './append.js'
import { journalTimeMs, lockJournalHeadIfCaughtUp } from './head.js'
import { findRowsOfKeys, loadRegistryRowsOfBatch } from './slice.js'

export type AppendChangesResult =
  /**
   * Accepted. Changes with an effect are written. `clusterId` is the cluster of the last of them, null where none had
   * an effect.
   */
  | { kind: 'made'; clusterId: Buffer | null }
  /** Nothing was written. `refusal` is that of the first refused change. */
  | { kind: 'refused'; refusal: ChangeRefusal }
  /** Nothing was written: during the network's first catch-up only its indexer may write. */
  | { kind: 'catching_up' }
  /** Nothing was written: the session has ended. */
  | { kind: 'session_ended' }

/**
 * A rate limit of changes. Its methods are called once for each attempt, in this order, in the transaction of the
 * changes.
 */
export interface ChangeRateLimit {
  /**
   * Reads how much of the limit earlier changes have used. The head's lock prevents concurrent writes by other changes.
   */
  read(db: Queryable): Promise<void>
  /** Charges the changes to the limit. If it throws, nothing is written. */
  charge(changes: RowChanges): void
  /** Stores how much of the limit is used now. */
  write(db: Queryable): Promise<void>
}

export interface SignedChanges {
  network: Network
  /** Changes in order, one or more. All take effect, or none. */
  changes: readonly SignedChange[]
  /** Id of the only cluster that the changes may affect. */
  within?: Buffer
  /** Hash of the key whose session has to be live when the changes are written. */
  keyHash?: Buffer | undefined
  /** How long the caller waits. Nothing is written after that. */
  patience?: Deadline | undefined
  limit?: ChangeRateLimit | undefined
  /** Additional statements in the same transaction. */
  alongside?: (db: Queryable, clusterId: Buffer) => Promise<void>
}

/** Attempts to get the head's lock: a frozen process may hold it for longer than one lock timeout. */
const LOCK_TRIES = 3

/** Appends signed changes in one transaction, if the fold accepts all of them under the head's lock. */
export async function appendSignedChanges(
  pool: pg.Pool,
  request: SignedChanges,
): Promise<AppendChangesResult> {
  for (let tries = 1; ; tries++) {
    try {
      return await appendOnce(pool, request)
    } catch (error) {
      if (!isLockTimeoutError(error) || tries === LOCK_TRIES) throw error
    }
  }
}

function appendOnce(pool: pg.Pool, request: SignedChanges): Promise<AppendChangesResult> {
  const { network, changes, within, keyHash, patience, limit, alongside } = request
  const undated = changes.map((change) =>
    decodeEntry({
      kind: change.kind,
      position: null,
      txKey: null,
      causeMs: 0,
      body: encodeChange(change),
    }),
  )
  const keys = rowKeysOfEntries(undated)
  if (within) keys.clusterIds.add(mapKey(within))
  return inPipelinedTransaction(pool, {
    patience,
    reads: (db) => [
      lockJournalHeadIfCaughtUp(db, network),
      findRowsOfKeys(db, network, keys),
      limit?.read(db) ?? Promise.resolve(),
      keyHash ? lockLiveSession(db, keyHash) : Promise.resolve(true),
    ],
    work: async (client, [head, probed, , isLive]): Promise<AppendChangesResult> => {
      if (!head) return { kind: 'catching_up' }
      if (!isLive) return { kind: 'session_ended' }
      const nowMs = journalTimeMs(head)
      const entries = undated.map((entry) => ({ ...entry, causeMs: nowMs }))
      // only the rules from now on are read: reading all former rules takes long under the head's lock
      for (const name of keys.communities.keys()) keys.communities.set(name, nowMs)
      const slice = await loadRegistryRowsOfBatch(
        client,
        { network, head, isAlone: entries.length === 1 },
        probed,
      )
      if (within && !isWithin(slice, changes, within))
        return { kind: 'refused', refusal: { code: 'forbidden' } }
      const decided = decide(slice, entries, nowMs)
      if ('kind' in decided) return decided

      limit?.charge(decided)
      const { cluster } = decided.outcomes.at(-1)!
      const clusterId = cluster === null ? null : await idOf(client, network, decided, cluster)
      await inPipeline(client, (db) => [
        limit?.write(db) ?? Promise.resolve(),
        Promise.all(written(db, network, decided)),
        (clusterId && alongside?.(db, clusterId)) ?? Promise.resolve(),
      ])
      return { kind: 'made', clusterId }
    },
  })
}

function decide(
  slice: LoadedRegistryRows,
  entries: readonly DecodedEntry[],
  nowMs: number,
): RowChanges | Extract<AppendChangesResult, { kind: 'refused' }> {
  const folded = foldEntriesToRows(slice, entries, nowMs)
  const { outcomes } = folded
  const refusal = outcomes.find((outcome) => outcome.refusal !== null)?.refusal
  if (refusal) return { kind: 'refused', refusal }
  const effective = entries.filter((_, i) => outcomes[i]!.hasEffect)
  return effective.length === entries.length
    ? folded
    : { ...foldEntriesToRows(slice, effective, nowMs), outcomes }
}

const written = (db: Queryable, network: Network, changes: RowChanges): Promise<unknown>[] =>
  changes.journal.length > 0
    ? [...writeRowChanges(db, network, changes), notifyNetwork(db, network)]
    : []

function isWithin(
  slice: LoadedRegistryRows,
  changes: readonly SignedChange[],
  id: Buffer,
): boolean {
  const cluster = slice.clusterSerials.get(mapKey(id))
  return (
    cluster !== undefined &&
    changes.every(({ actor }) => actor && slice.verified.get(mapKey(actor))?.cluster === cluster)
  )
}

async function idOf(
  db: Queryable,
  network: Network,
  changes: RowChanges,
  serial: number,
): Promise<Buffer> {
  const created = changes.clusters.find((row) => row.serial === serial)
  if (created) return created.id
  const text = `SELECT id FROM ${partitionName('clusters', network)} WHERE network = $1 AND serial = $2`
  const [row] = await query<{ id: Buffer }>(db, network, prepared(text), [serial])
  return row!.id
}
