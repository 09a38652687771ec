import type pg from 'pg'
import { type Changes, fold, keysOf, type Slice } from '../../registry/fold/index.js'
import type { ChangeRefusal } from '../../registry/fold/refusal.js'
import {
  type ClusterChange,
  type CommunityChange,
  encodeChange,
  type SignedChange,
} from '../../registry/journal/change.js'
import { type DecodedEntry, decodeEntry } from '../../registry/journal/decode.js'
import { keyOf } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { notify } from '../pg/notify.js'
import { leaf } from '../pg/partitions.js'
import { inShortTransaction, type Patience } from '../pg/pool.js'
import { type Queryable, query } from '../pg/rows.js'
import { writeChanges } from './append.js'
import { type LockedHead, lockCaughtUp, writerTime } from './head.js'
import { completeSlice, type Probed, probeKeys } from './slice.js'

export type AppendResult =
  /** Accepted: changes with an effect are written. `clusterId`: cluster of the last one. */
  | { kind: 'made'; clusterId: Buffer }
  /** Nothing written. `index`: position of the refused change. */
  | { kind: 'refused'; index: number; refusal: ChangeRefusal }
  /** Nothing written: the changes belong to a cluster other than `within`. */
  | { kind: 'elsewhere' }
  /** First catch-up of the network: only its indexer may write. */
  | { kind: 'catching_up' }

/**
 * Reads what limits changes, behind the head's lock, and takes them from it: what that throws keeps the changes from
 * being written, and what it returns is written with them.
 */
type ChangeLimit = (db: Queryable) => Promise<(changes: Changes) => (db: Queryable) => Promise<void>>

export interface SignedChanges {
  network: Network
  /** Changes in order, one or more; all take effect or none. */
  changes: readonly ClusterChange[]
  /** Id of the only cluster that may change. */
  within?: Buffer
  /** Time that the caller waits: nothing is written after that. */
  patience?: Patience
  limit?: ChangeLimit
  /** Additional statements in the same transaction, sent before it waits for anything. */
  alongside?: (db: Queryable, clusterId: Buffer) => Promise<void>
}

/** Appends signed changes in one transaction, if the fold accepts all of them behind the head's lock. */
export function appendSignedChanges(pool: pg.Pool, request: SignedChanges): Promise<AppendResult> {
  return whenCaughtUp(pool, request, (client, locked) => decideChanges(client, locked, request))
}

export type CommunityAppendResult = { kind: 'made' } | Extract<AppendResult, { kind: 'refused' | 'catching_up' }>

/** Counterpart of `appendSignedChanges` for one change of a community, which may belong to no cluster. */
export function appendCommunityChange(
  pool: pg.Pool,
  { change, ...request }: Pick<SignedChanges, 'network' | 'patience' | 'limit'> & { change: CommunityChange },
): Promise<CommunityAppendResult> {
  const asked = { ...request, changes: [change] }
  return whenCaughtUp(
    pool,
    asked,
    async (_client, { entries, load, nowMs, spend }): Promise<Last<CommunityAppendResult>> => {
      const decided = decide(await load(), entries, nowMs)
      if ('kind' in decided) return async () => decided
      const spent = spend?.(decided)
      return async (db) => {
        await Promise.all([spent?.(db), ...written(db, request.network, decided)])
        return { kind: 'made' }
      }
    },
  )
}

const CATCHING_UP = { kind: 'catching_up' } as const

/** Facts that are known once the head is locked. */
interface Locked {
  entries: readonly DecodedEntry[]
  nowMs: number
  spend: Awaited<ReturnType<ChangeLimit>> | undefined
  load(): Promise<Slice>
}

type Last<T> = (db: Queryable) => Promise<T>

/** Locks the head and looks the changes' keys up, in one round trip. */
async function whenCaughtUp<T>(
  pool: pg.Pool,
  {
    network,
    patience,
    changes,
    within,
    limit,
  }: Pick<SignedChanges, 'network' | 'patience' | 'within' | 'limit'> & { changes: readonly SignedChange[] },
  work: (client: pg.PoolClient, locked: Locked) => Promise<Last<T>>,
): Promise<T | typeof CATCHING_UP> {
  const undated = changes.map((change) => entryOf(change, 0))
  const keys = keysOf(undated)
  if (within) keys.clusterIds.add(keyOf(within))
  const first = (db: Queryable) => Promise.all([lockCaughtUp(db, network), probeKeys(db, network, keys), limit?.(db)])
  return inShortTransaction<[LockedHead | null, Probed, Locked['spend']], T | typeof CATCHING_UP>(
    pool,
    {
      first,
      async decide(client, [head, probed, spend]) {
        if (!head) return async () => CATCHING_UP
        const nowMs = writerTime(head)
        const entries = undated.map((entry) => ({ ...entry, causeMs: nowMs }))
        // of rules, those from now on are read: all that there ever were would hold up whoever waits for the lock
        for (const name of keys.communities.keys()) keys.communities.set(name, nowMs)
        const isAlone = entries.length === 1
        const load = () => completeSlice(client, { network, head, isAlone }, probed)
        return work(client, { entries, nowMs, load, spend })
      },
    },
    patience,
  )
}

async function decideChanges(
  client: pg.PoolClient,
  { entries, nowMs, load, spend }: Locked,
  request: SignedChanges,
): Promise<Last<AppendResult>> {
  const { network, alongside } = request
  const slice = await load()
  if (request.within && !isWithin(slice, request.changes, request.within)) return async () => ({ kind: 'elsewhere' })
  const decided = decide(slice, entries, nowMs)
  if ('kind' in decided) return async () => decided
  const spent = spend?.(decided)
  const serial = decided.outcomes.at(-1)!.cluster!
  const known = alongside && (await idOf(client, network, decided, serial))
  return async (db) => {
    const [clusterId] = await Promise.all([
      known ?? idOf(db, network, decided, serial),
      spent?.(db),
      ...written(db, network, decided),
      ...(known ? [alongside!(db, known)] : []),
    ])
    return { kind: 'made', clusterId }
  }
}

/** Rows of the entries that have an effect, or the first refusal. */
function decide(slice: Slice, entries: readonly DecodedEntry[], nowMs: number): Changes | Refused {
  const folded = fold(slice, entries, nowMs)
  const { outcomes } = folded
  const index = outcomes.findIndex(({ refusal }) => refusal !== null)
  const refusal = outcomes[index]?.refusal
  if (refusal) return { kind: 'refused', index, refusal }
  const effective = entries.filter((_, i) => outcomes[i]!.hasEffect)
  return effective.length === entries.length ? folded : { ...fold(slice, effective, nowMs), outcomes }
}

type Refused = Extract<AppendResult, { kind: 'refused' }>

const written = (db: Queryable, network: Network, changes: Changes): Promise<unknown>[] =>
  changes.journal.length > 0 ? [...writeChanges(db, network, changes), notify(db, network)] : []

/** Tells whether all signers are verified in the cluster with this id. */
function isWithin(slice: Slice, changes: readonly ClusterChange[], id: Buffer): boolean {
  const cluster = slice.clusterSerials.get(keyOf(id))
  return cluster !== undefined && changes.every(({ actor }) => slice.verified.get(keyOf(actor))?.cluster === cluster)
}

const entryOf = (change: SignedChange, nowMs: number): DecodedEntry =>
  decodeEntry({ kind: change.kind, position: null, txKey: null, causeMs: nowMs, body: encodeChange(change) })

async function idOf(db: Queryable, network: Network, changes: Changes, serial: number): Promise<Buffer> {
  const created = changes.clusters.find((row) => row.serial === serial)
  if (created) return created.id
  const text = `SELECT id FROM ${leaf('clusters', network)} WHERE network = $1 AND serial = $2`
  const [row] = await query<{ id: Buffer }>(db, network, { name: `cluster_id_${network}`, text }, [serial])
  return row!.id
}
