import type pg from 'pg'
import { keyOf } from '../registry/bytes.js'
import { type Change, encodeChange } from '../registry/change.js'
import type { ChangeRefusal } from '../registry/changeRefusal.js'
import type { Entry } from '../registry/entry.js'
import { type Changes, fold, keysOf, type Slice } from '../registry/fold.js'
import { NETWORK_CODE, type Network } from '../registry/network.js'
import { writeChanges } from './append.js'
import { lockHead, readHead } from './head.js'
import { inTransaction } from './pool.js'
import { loadSlice } from './slice.js'
import { leaf } from './tables.js'

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
 * Makes changes that a wallet has signed for: judges them under the head's lock by the fold itself, and appends them to the
 * journal if all of them hold. One transaction.
 */
export async function makeChanges(pool: pg.Pool, request: MakeChanges): Promise<ChangesMade> {
  // asked without the lock: the indexer holds it for long while it catches up, and nobody should queue behind it
  if (!(await readHead(pool, request.network)).caughtUp) return { kind: 'catching_up' }
  return inTransaction(pool, (client) => makeIn(client, request))
}

async function makeIn(client: pg.PoolClient, request: MakeChanges): Promise<ChangesMade> {
  const { network, nowMs } = request
  const head = await lockHead(client, network)
  if (!head.caughtUp) return { kind: 'catching_up' }
  const entries = request.changes.map((change) => entryOf(change, nowMs))
  const keys = keysOf(entries)
  if (request.within) keys.clusterIds.add(keyOf(request.within))
  const slice = await loadSlice(client, network, head, keys)
  if (request.within && !isWithin(slice, request.changes, request.within)) return { kind: 'elsewhere' }
  const judged = fold(slice, entries, nowMs)
  const { outcomes } = judged
  const index = outcomes.findIndex(({ refusal }) => refusal !== null)
  const refusal = outcomes[index]?.refusal
  if (refusal) return { kind: 'refused', index, refusal }
  const clusterId = await idOf(client, network, judged, outcomes.at(-1)!.cluster!)
  const effective = entries.filter((_, i) => outcomes[i]!.hasEffect)
  const changes = effective.length === entries.length ? judged : fold(slice, effective, nowMs)
  if (effective.length > 0) await writeChanges(client, network, changes)
  await request.alongside?.(client, clusterId)
  if (effective.length > 0) await client.query(`SELECT pg_notify('clusterd', $1)`, [network])
  return { kind: 'made', clusterId }
}

/** Whether all who sign are verified in the cluster with this id. */
function isWithin(slice: Slice, changes: readonly Change[], id: Buffer): boolean {
  const cluster = slice.clusterSerials.get(keyOf(id))
  return cluster !== undefined && changes.every(({ actor }) => slice.verified.get(keyOf(actor))?.cluster === cluster)
}

const entryOf = (change: Change, nowMs: number): Entry => ({
  kind: change.kind,
  position: null,
  txKey: null,
  causeMs: nowMs,
  body: encodeChange(change),
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
