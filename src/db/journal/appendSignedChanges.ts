import type pg from 'pg'
import type { BucketQuota } from '../../ops/tokenBucket.js'
import { foldEntriesToRows, rowKeysOfEntries } from '../../registry/fold/index.js'
import type { ChangeRefusal } from '../../registry/fold/refusal.js'
import type { LoadedRegistryRows, RowChanges } from '../../registry/fold/rows.js'
import type { SignedChange } from '../../registry/journal/change.js'
import { type DecodedEntry, entryOfChange } from '../../registry/journal/decode.js'
import { mapKey } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import {
  type ExceededQuota,
  readBuckets,
  withdrawFromBuckets,
  writeBuckets,
} from '../auth/limitBuckets.js'
import { lockLiveSession } from '../auth/sessions.js'
import { propertyArrays } from '../pg/arrays.js'
import { notifyNetwork } from '../pg/notify.js'
import { inPipeline } from '../pg/pipeline.js'
import { type Deadline, inPipelinedTransaction } from '../pg/pool.js'
import type { Queryable } from '../pg/rows.js'
import { isLockTimeoutError } from '../pg/unavailable.js'
import { writeRowChanges } from './append.js'
import { journalTimeMs, lockJournalHeadIfCaughtUp } from './head.js'
import { prepareSingleValue, prepareStatement } from './partitions.js'
import { findRowsOfKeys, loadRegistryRowsOfBatch } from './slice.js'

export type SignedChangesResult =
  /**
   * The changes were accepted, and the changes with an effect were written. `clusterId` is the cluster of the last
   * change, null for a change without a cluster.
   */
  | { kind: 'made'; clusterId: Buffer | null }
  /** Nothing was written. `refusal` is the reason for which the first refused change was refused. */
  | { kind: 'refused'; refusal: ChangeRefusal }
  /** Nothing was written: until the generation's first catch-up has ended, only the indexer may write. */
  | { kind: 'catching_up' }
  /** Nothing was written: the session has ended. */
  | { kind: 'session_ended' }
  /** Nothing was written: a limit is reached. */
  | { kind: 'limited'; reached: ExceededQuota }

/** Rate limit of changes. All writers of its bucket hold the head's lock. */
export interface ChangeLimit extends BucketQuota {
  /** Kind of units that the limit counts. */
  per: keyof ReturnType<typeof unitsOfChanges>
}

export interface SignedChanges {
  network: Network
  /** Changes in order, one or more. All are accepted, or nothing is written. */
  changes: readonly SignedChange[]
  /** Id of a cluster in which the actor of each change has to be verified. Absent: no such condition. */
  within?: Buffer
  /** Hash of the key whose session has to be live when the changes are written. */
  keyHash?: Buffer | undefined
  /** How long the caller waits. Nothing is written after that. */
  patience?: Deadline | undefined
  limits?: readonly ChangeLimit[]
  /** Sends more statements in the transaction of the changes. Not called for a last change without a cluster. */
  alongside?: (db: Queryable, clusterId: Buffer) => Promise<void>
}

/** Maximum number of attempts to lock the head: a frozen process may hold the lock for longer than one lock timeout. */
const LOCK_TRIES = 3

/**
 * Appends signed changes in one transaction, if the fold accepts all of them under the head's lock.
 * @throws ClockError; the lock timeout after `LOCK_TRIES` attempts
 */
export async function appendSignedChanges(
  pool: pg.Pool,
  request: SignedChanges,
): Promise<SignedChangesResult> {
  for (let tries = 1; ; tries++) {
    try {
      return await appendOnce(pool, request)
    } catch (error) {
      if (!isLockTimeoutError(error) || tries === LOCK_TRIES) throw error
    }
  }
}

function appendOnce(pool: pg.Pool, request: SignedChanges): Promise<SignedChangesResult> {
  const { network, changes, within, keyHash, patience, limits = [], alongside } = request
  const undated = changes.map((change) => entryOfChange(change, 0))
  const keys = rowKeysOfEntries(undated)
  if (within) keys.clusterIds.add(mapKey(within))
  return inPipelinedTransaction(pool, {
    patience,
    reads: (db) => [
      lockJournalHeadIfCaughtUp(db, network),
      findRowsOfKeys(db, network, keys),
      readBuckets(
        db,
        limits.map(({ bucket }) => bucket),
      ),
      keyHash ? lockLiveSession(db, keyHash) : Promise.resolve(true),
    ],
    work: async (client, [head, probed, buckets, isLive]): Promise<SignedChangesResult> => {
      if (!head) return { kind: 'catching_up' }
      if (!isLive) return { kind: 'session_ended' }
      const nowMs = journalTimeMs(head)
      const entries = undated.map((entry) => ({ ...entry, causeMs: nowMs }))
      // reads only the rules in force now: to read all former rules takes long under the head's lock
      for (const name of keys.communities.keys()) keys.communities.set(name, nowMs)
      const slice = await loadRegistryRowsOfBatch(
        client,
        { network, head, isAlone: entries.length === 1 },
        probed,
      )
      if (within && !isEachActorVerifiedIn(slice, changes, within))
        return { kind: 'refused', refusal: { code: 'forbidden' } }
      const decided = foldEffectiveChanges(slice, entries, nowMs)
      if ('kind' in decided) return decided

      const work = unitsOfChanges(decided)
      const charges = limits.map(({ per, ...quota }) => ({ ...quota, units: work[per] }))
      const left = withdrawFromBuckets(charges, buckets)
      if ('quota' in left) return { kind: 'limited', reached: left }
      const { cluster } = decided.outcomes.at(-1)!
      const clusterId =
        cluster === null ? null : await clusterIdOf(client, network, decided, cluster)
      await inPipeline(client, (db) => [
        writeBuckets(db, left),
        Promise.all([
          ...writeRowChanges(db, network, decided),
          decided.journal.length > 0 && notifyNetwork(db, network),
        ]),
        deleteEvidenceOfRemovedWallets(db, network, decided),
        (clusterId && alongside?.(db, clusterId)) ?? Promise.resolve(),
      ])
      return { kind: 'made', clusterId }
    },
  })
}

/**
 * Folds the changes. If some have no effect, folds the other changes again, because a change without effect gets no
 * entry. `outcomes` has the outcomes of all changes.
 * @returns the folded changes, or the refusal of the first refused change
 */
function foldEffectiveChanges(
  slice: LoadedRegistryRows,
  entries: readonly DecodedEntry[],
  nowMs: number,
): RowChanges | Extract<SignedChangesResult, { kind: 'refused' }> {
  const folded = foldEntriesToRows(slice, entries, nowMs)
  const { outcomes } = folded
  const refusal = outcomes.find((outcome) => outcome.refusal !== null)?.refusal
  if (refusal) return { kind: 'refused', refusal }
  const effective = entries.filter((_, i) => outcomes[i]!.hasEffect)
  return effective.length === entries.length
    ? folded
    : { ...foldEntriesToRows(slice, effective, nowMs), outcomes }
}

/** How many bytes of entries' bodies cost one unit. */
const BYTES_PER_CHANGE = 1_024

/**
 * Units that changes cost, by kind. `changes` is the highest of three numbers, at least 1: public events, written
 * wallet rows (private wallets have no events), and KiB of the entries' bodies (a community's rules may be long).
 */
function unitsOfChanges({ journal, clusters, communityNames, ...rows }: RowChanges) {
  const events = journal.reduce((sum, { publicCount }) => sum + publicCount, 0)
  const written = rows.wallets.length + rows.walletUpdates.length + rows.walletRemovals.length
  const size = Math.ceil(journal.reduce((sum, { body }) => sum + body.length, 0) / BYTES_PER_CHANGE)
  return {
    changes: Math.max(1, events, written, size),
    clusters: clusters.length,
    names: communityNames.length,
  }
}

const clearSessionEvidence = prepareStatement(
  (
    l,
  ) => `UPDATE sessions s SET evidence = 'null' FROM unnest($1::int8[], $2::bytea[]) AS r(cluster, address)
    JOIN ${l.clusters} c ON c.network = ${l.network} AND c.serial = r.cluster
    WHERE s.wallet = r.address AND s.evidence->>'network' = $3 AND s.evidence->>'clusterId' = '0x' || encode(c.id, 'hex')`,
)

/** Deletes the signed membership in sessions of wallets that leave the cluster, so that it does not become evidence. */
async function deleteEvidenceOfRemovedWallets(
  db: Queryable,
  network: Network,
  { walletRemovals }: RowChanges,
) {
  if (walletRemovals.length > 0)
    await clearSessionEvidence(
      db,
      network,
      ...propertyArrays(walletRemovals, 'cluster', 'address'),
      network,
    )
}

function isEachActorVerifiedIn(
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

const readClusterId = prepareSingleValue<Buffer>(
  (l) => `SELECT id FROM ${l.clusters} WHERE network = ${l.network} AND serial = $1`,
)

async function clusterIdOf(
  db: Queryable,
  network: Network,
  changes: RowChanges,
  serial: number,
): Promise<Buffer> {
  const created = changes.clusters.find((row) => row.serial === serial)
  if (created) return created.id
  return (await readClusterId(db, network, serial))!
}
