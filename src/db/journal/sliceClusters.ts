import type pg from 'pg'
import type { Keys, Slice } from '../../registry/fold/index.js'
import type { WalletRow } from '../../registry/fold/rows.js'
import { keyOf } from '../../registry/primitives/bytes.js'
import { WON } from '../pg/codes.js'
import { leaf } from '../pg/partitions.js'
import { query } from '../pg/rows.js'

/**
 * Loads whole clusters into a slice: those named by id, those of actors, of privately verified wallets, and owners of
 * communities. Batches of bids rarely need any.
 */
export async function loadClusters(client: pg.ClientBase, slice: Slice, keys: Keys): Promise<void> {
  if (keys.clusterIds.size > 0) await findSerials(client, slice, [...keys.clusterIds])
  const whole = new Set(slice.clusterSerials.values())
  for (const [key, { cluster, isPrivate }] of slice.verified) if (isPrivate || keys.actors.has(key)) whole.add(cluster)
  for (const community of keys.communities.keys()) {
    const owner = slice.owners.get(community)
    if (owner !== undefined) whole.add(owner)
  }
  if (whole.size === 0) return
  for (const serial of whole) slice.clusters.set(serial, { wallets: new Map(), names: [] })
  await readWallets(client, slice)
  await readNames(client, slice)
}

async function findSerials(client: pg.ClientBase, { network, clusterSerials }: Slice, ids: readonly string[]) {
  const sql = `SELECT id, serial FROM ${leaf('clusters', network)} WHERE network = $1 AND id = ANY($2::bytea[])`
  const rows = await query<{ id: Buffer; serial: number }>(client, network, sql, [
    ids.map((key) => Buffer.from(key, 'latin1')),
  ])
  for (const { id, serial } of rows) clusterSerials.set(keyOf(id), serial)
}

async function readWallets(client: pg.ClientBase, { network, clusters }: Slice): Promise<void> {
  const rows = await query<WalletRow>(
    client,
    network,
    `SELECT w.cluster, w.address, w.name, w.verified AS is_verified, w.private AS is_private, w.backed_up AS is_backed_up,
       w.created_seq, w.updated_seq
     FROM unnest($2::int8[]) AS k(serial)
     JOIN ${leaf('wallets', network)} w ON w.network = $1 AND w.cluster = k.serial`,
    [[...clusters.keys()]],
  )
  for (const row of rows) clusters.get(row.cluster)!.wallets.set(keyOf(row.address), row)
}

async function readNames(client: pg.ClientBase, { network, clusters }: Slice): Promise<void> {
  const rows = await query<{ cluster: number; name: string; seq: number }>(
    client,
    network,
    `SELECT n.cluster, n.name, n.seq FROM unnest($2::int8[]) AS k(serial)
     JOIN ${leaf('names', network)} n ON n.network = $1 AND n.cluster = k.serial AND n.outcome = ${WON}
     ORDER BY n.seq`,
    [[...clusters.keys()]],
  )
  for (const { cluster, name, seq } of rows) clusters.get(cluster)!.names.push({ name, seq })
}
