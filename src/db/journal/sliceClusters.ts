import type pg from 'pg'
import type { Keys, Slice } from '../../registry/fold/index.js'
import type { WalletRow } from '../../registry/fold/rows.js'
import { keyOf } from '../../registry/primitives/bytes.js'
import { WON } from '../pg/codes.js'
import { leaf } from '../pg/partitions.js'
import { query } from '../pg/rows.js'

/**
 * Loads clusters with all their wallets into a slice: those named by id, those of actors, of privately verified
 * wallets, and owners of communities. Batches of bids rarely need any.
 * @param movedNames upper bound on the names read of a cluster whose names may move; none for a replay
 */
export async function loadClusters(
  client: pg.ClientBase,
  slice: Slice,
  keys: Keys,
  movedNames: number | null,
): Promise<void> {
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
  await readNames(client, slice, keys, movedNames)
}

/** Clusters whose names may move: those that wallets leave, and where several do, those that they enter before. */
function leftClusters({ verified, clusterSerials }: Slice, { movers }: Keys): Set<number> {
  const left = new Set(movers.flatMap((key) => verified.get(key)?.cluster ?? []))
  if (movers.length > 1) for (const serial of clusterSerials.values()) left.add(serial)
  return left
}

async function findSerials(client: pg.ClientBase, { network, clusterSerials }: Slice, ids: readonly string[]) {
  const text = `SELECT id, serial FROM ${leaf('clusters', network)} WHERE network = $1 AND id = ANY($2::bytea[])`
  const statement = { name: `slice_serials_${network}`, text }
  const rows = await query<{ id: Buffer; serial: number }>(client, network, statement, [
    ids.map((key) => Buffer.from(key, 'latin1')),
  ])
  for (const { id, serial } of rows) clusterSerials.set(keyOf(id), serial)
}

async function readWallets(client: pg.ClientBase, { network, clusters }: Slice): Promise<void> {
  const text = `SELECT w.cluster, w.address, w.name, w.verified AS is_verified, w.private AS is_private, w.backed_up AS is_backed_up,
       w.created_seq, w.updated_seq
     FROM unnest($2::int8[]) AS k(serial)
     JOIN ${leaf('wallets', network)} w ON w.network = $1 AND w.cluster = k.serial`
  const rows = await query<WalletRow>(client, network, { name: `slice_wallets_${network}`, text }, [
    [...clusters.keys()],
  ])
  for (const row of rows) clusters.get(row.cluster)!.wallets.set(keyOf(row.address), row)
}

/**
 * Reads names of clusters: the oldest, communities, those that the batch may make communities, and of clusters whose
 * names may move all. A cluster may hold a hundred thousand, and the head is locked.
 */
async function readNames(client: pg.ClientBase, slice: Slice, keys: Keys, movedNames: number | null): Promise<void> {
  const { network, clusters } = slice
  const left = leftClusters(slice, keys)
  const serials = [...clusters.keys()]
  const names = `SELECT n.name, n.seq FROM ${leaf('names', network)} n WHERE n.network = $1 AND n.cluster = k.serial`
  const text = `SELECT k.serial AS cluster, n.name, n.seq FROM unnest($2::int8[], $3::bool[]) AS k(serial, is_left)
     CROSS JOIN LATERAL (
       (${names} ORDER BY n.seq LIMIT 1)
       UNION (${names} AND n.community)
       UNION (${names} AND n.name = ANY ($4::text[]) AND n.outcome = ${WON})
       UNION (${names} AND k.is_left ORDER BY n.seq LIMIT $5)
     ) n ORDER BY n.seq`
  const rows = await query<{ cluster: number; name: string; seq: number }>(
    client,
    network,
    { name: `slice_names_${network}`, text },
    [serials, serials.map((serial) => left.has(serial)), [...keys.communities.keys()], movedNames],
  )
  for (const { cluster, name, seq } of rows) clusters.get(cluster)!.names.push({ name, seq })
}
