import type pg from 'pg'
import { type Changes, fold, type Head, keysOf, type Slice } from '../../registry/fold/index.js'
import type { ChangeRefusal } from '../../registry/fold/refusal.js'
import { type Change, encodeChange } from '../../registry/journal/change.js'
import { type CommunityChange, encodeCommunityChange } from '../../registry/journal/communityChange.js'
import type { Entry, EntryKind } from '../../registry/journal/entry.js'
import { keyOf } from '../../registry/primitives/bytes.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { notify } from '../pg/notify.js'
import { leaf } from '../pg/partitions.js'
import { inTransaction } from '../pg/pool.js'
import { writeChanges } from './append.js'
import { lockHead, readHead } from './head.js'
import { loadSlice } from './slice.js'

export type ChangesMade =
  /** They hold; those that change nothing were not written. `clusterId`: the cluster of the last one. */
  | { kind: 'made'; clusterId: Buffer }
  /** Nothing was written. `index`: which of the changes can't be made. */
  | { kind: 'refused'; index: number; refusal: ChangeRefusal }
  /** Nothing was written: the changes belong to another cluster than `within`. */
  | { kind: 'elsewhere' }
  /** The network has not been caught up for the first time: nobody but its indexer may write. */
  | { kind: 'catching_up' }

export interface MakeChanges {
  network: Network
  /** One or more, made in this order, all or none. */
  changes: readonly Change[]
  /** The time of the request and the writer's clock, milliseconds. */
  nowMs: number
  /** The id of the one cluster that may be changed. */
  within?: Buffer
  /** Writes what belongs to the changes into the same transaction. */
  alongside?: (client: pg.ClientBase, clusterId: Buffer) => Promise<void>
}

/**
 * Makes changes that a wallet has signed for: judges them under the head's lock by the fold itself, and appends them to
 * the journal if all of them hold. One transaction.
 */
export const makeChanges = (pool: pg.Pool, request: MakeChanges): Promise<ChangesMade> =>
  whenCaughtUp(pool, request.network, (client, head) => makeIn(client, head, request))

export type CommunityChangeMade = { kind: 'made' } | Extract<ChangesMade, { kind: 'refused' | 'catching_up' }>

/** The same for a change of a community, which may belong to no cluster. */
export const makeCommunityChange = (
  pool: pg.Pool,
  { network, change, nowMs }: { network: Network; change: CommunityChange; nowMs: number },
): Promise<CommunityChangeMade> =>
  whenCaughtUp(pool, network, async (client, head) => {
    const entry = { ...entryOf(change.kind, nowMs), body: encodeCommunityChange(change) }
    const slice = await loadSlice(client, network, head, keysOf([entry]))
    const judged = judge(slice, [entry], nowMs)
    if ('kind' in judged) return judged
    await write(client, network, judged)
    return { kind: 'made' }
  })

const CATCHING_UP = { kind: 'catching_up' } as const

async function whenCaughtUp<T>(
  pool: pg.Pool,
  network: Network,
  make: (client: pg.PoolClient, head: Head) => Promise<T>,
): Promise<T | typeof CATCHING_UP> {
  // asked without the lock: the indexer holds it for long while it catches up, and nobody should queue behind it
  if (!(await readHead(pool, network)).caughtUp) return CATCHING_UP
  return inTransaction(pool, async (client) => {
    const head = await lockHead(client, network)
    return head.caughtUp ? make(client, head) : CATCHING_UP
  })
}

async function makeIn(client: pg.PoolClient, head: Head, request: MakeChanges): Promise<ChangesMade> {
  const { network, nowMs } = request
  const entries = request.changes.map((change) => ({ ...entryOf(change.kind, nowMs), body: encodeChange(change) }))
  const keys = keysOf(entries)
  if (request.within) keys.clusterIds.add(keyOf(request.within))
  const slice = await loadSlice(client, network, head, keys)
  if (request.within && !isWithin(slice, request.changes, request.within)) return { kind: 'elsewhere' }
  const judged = judge(slice, entries, nowMs)
  if ('kind' in judged) return judged
  const clusterId = await idOf(client, network, judged, judged.outcomes.at(-1)!.cluster!)
  await write(client, network, judged, request.alongside && ((to) => request.alongside!(to, clusterId)))
  return { kind: 'made', clusterId }
}

/** What the entries change, those without effect left out; or why one of them can't be made. */
function judge(slice: Slice, entries: readonly Entry[], nowMs: number): Changes | Refused {
  const judged = fold(slice, entries, nowMs)
  const { outcomes } = judged
  const index = outcomes.findIndex(({ refusal }) => refusal !== null)
  const refusal = outcomes[index]?.refusal
  if (refusal) return { kind: 'refused', index, refusal }
  const effective = entries.filter((_, i) => outcomes[i]!.hasEffect)
  return effective.length === entries.length ? judged : { ...fold(slice, effective, nowMs), outcomes }
}

type Refused = Extract<ChangesMade, { kind: 'refused' }>

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

/** Whether all who sign are verified in the cluster with this id. */
function isWithin(slice: Slice, changes: readonly Change[], id: Buffer): boolean {
  const cluster = slice.clusterSerials.get(keyOf(id))
  return cluster !== undefined && changes.every(({ actor }) => slice.verified.get(keyOf(actor))?.cluster === cluster)
}

const entryOf = (kind: EntryKind, nowMs: number): Omit<Entry, 'body'> => ({
  kind,
  position: null,
  txKey: null,
  causeMs: nowMs,
})

async function idOf(client: pg.ClientBase, network: Network, changes: Changes, serial: number): Promise<Buffer> {
  const created = changes.clusters.find((row) => row.serial === serial)
  if (created) return created.id
  const { rows } = await client.query<{ id: Buffer }>(
    `SELECT id FROM ${leaf('clusters', network)} WHERE network = $1 AND serial = $2`,
    [NETWORK_CODE[network], serial],
  )
  return rows[0]!.id
}
