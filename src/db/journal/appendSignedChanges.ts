import type pg from 'pg'
import { type Changes, fold, keysOf, MAX_MOVED_NAMES, type Slice } from '../../registry/fold/index.js'
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
import { inTransaction, type Patience } from '../pg/pool.js'
import { query } from '../pg/rows.js'
import { writeChanges } from './append.js'
import { type LockedHead, lockHead, readHead, writerTime } from './head.js'
import { loadSlice } from './slice.js'

export type AppendResult =
  /** Accepted: changes with an effect are written. `clusterId`: cluster of the last one. */
  | { kind: 'made'; clusterId: Buffer }
  /** Nothing written. `index`: position of the refused change. */
  | { kind: 'refused'; index: number; refusal: ChangeRefusal }
  /** Nothing written: more names than `MAX_MOVED_NAMES` would move. */
  | { kind: 'too_many_names' }
  /** Nothing written: the changes belong to a cluster other than `within`. */
  | { kind: 'elsewhere' }
  /** First catch-up of the network: only its indexer may write. */
  | { kind: 'catching_up' }

export interface SignedChanges {
  network: Network
  /** Changes in order, one or more; all take effect or none. */
  changes: readonly ClusterChange[]
  /** Id of the only cluster that may change. */
  within?: Buffer
  /** How long the caller waits: nothing is written after that. */
  patience?: Patience
  /** Called before anything is written; what it throws keeps it from being written. */
  limit?: (client: pg.ClientBase, changes: Changes) => Promise<void>
  /** Additional writes in the same transaction. */
  alongside?: (client: pg.ClientBase, clusterId: Buffer) => Promise<void>
}

/** Appends signed changes in one transaction, if the fold accepts all of them behind the head's lock. */
export function appendSignedChanges(pool: pg.Pool, request: SignedChanges): Promise<AppendResult> {
  return whenCaughtUp(pool, request, (client, head) => append(client, head, request))
}

export type CommunityAppendResult = { kind: 'made' } | Extract<AppendResult, { kind: 'refused' | 'catching_up' }>

/** Counterpart of `appendSignedChanges` for one change of a community, which may belong to no cluster. */
export function appendCommunityChange(
  pool: pg.Pool,
  {
    network,
    change,
    patience,
    limit,
  }: Pick<SignedChanges, 'network' | 'patience' | 'limit'> & {
    change: CommunityChange
  },
): Promise<CommunityAppendResult> {
  return whenCaughtUp(pool, { network, patience }, async (client, head) => {
    const nowMs = writerTime(head)
    const entry = entryOf(change, nowMs)
    const slice = await loadSlice(client, network, head, keysOf([entry]))
    const decided = decide(slice, [entry], nowMs)
    if ('kind' in decided) return decided
    await limit?.(client, decided)
    await write(client, network, decided)
    return { kind: 'made' }
  })
}

const CATCHING_UP = { kind: 'catching_up' } as const

async function whenCaughtUp<T>(
  pool: pg.Pool,
  { network, patience }: { network: Network; patience?: Patience | undefined },
  work: (client: pg.PoolClient, head: LockedHead) => Promise<T>,
): Promise<T | typeof CATCHING_UP> {
  // read without the lock, which the indexer keeps for long during a catch-up
  if (!(await readHead(pool, network)).caughtUp) return CATCHING_UP
  return inTransaction(
    pool,
    async (client) => {
      const head = await lockHead(client, network, null)
      return head.caughtUp ? work(client, head) : CATCHING_UP
    },
    patience,
  )
}

async function append(client: pg.PoolClient, head: LockedHead, request: SignedChanges): Promise<AppendResult> {
  const { network, alongside } = request
  const nowMs = writerTime(head)
  const entries = request.changes.map((change) => entryOf(change, nowMs))
  const keys = keysOf(entries)
  if (request.within) keys.clusterIds.add(keyOf(request.within))
  const slice = await loadSlice(client, network, head, keys, { movedNames: MAX_MOVED_NAMES + 1 })
  if (request.within && !isWithin(slice, request.changes, request.within)) return { kind: 'elsewhere' }
  const decided = decide(slice, entries, nowMs)
  if ('kind' in decided) return decided
  if (decided.nameMoves.length > MAX_MOVED_NAMES) return { kind: 'too_many_names' }
  await request.limit?.(client, decided)
  const clusterId = await idOf(client, network, decided, decided.outcomes.at(-1)!.cluster!)
  await write(client, network, decided, alongside && ((to) => alongside(to, clusterId)))
  return { kind: 'made', clusterId }
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

async function write(
  client: pg.PoolClient,
  network: Network,
  changes: Changes,
  alongside?: (client: pg.ClientBase) => Promise<void>,
): Promise<void> {
  const isEffective = changes.journal.length > 0
  if (isEffective) await writeChanges(client, network, changes)
  await alongside?.(client)
  if (isEffective) await notify(client, network)
}

/** Whether all signers are verified in the cluster with this id. */
function isWithin(slice: Slice, changes: readonly ClusterChange[], id: Buffer): boolean {
  const cluster = slice.clusterSerials.get(keyOf(id))
  return cluster !== undefined && changes.every(({ actor }) => slice.verified.get(keyOf(actor))?.cluster === cluster)
}

const entryOf = (change: SignedChange, nowMs: number): DecodedEntry =>
  decodeEntry({ kind: change.kind, position: null, txKey: null, causeMs: nowMs, body: encodeChange(change) })

async function idOf(client: pg.ClientBase, network: Network, changes: Changes, serial: number): Promise<Buffer> {
  const created = changes.clusters.find((row) => row.serial === serial)
  if (created) return created.id
  const text = `SELECT id FROM ${leaf('clusters', network)} WHERE network = $1 AND serial = $2`
  const [row] = await query<{ id: Buffer }>(client, network, { name: `cluster_id_${network}`, text }, [serial])
  return row!.id
}
