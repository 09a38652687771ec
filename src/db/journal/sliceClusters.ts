import type {
  ClusterName,
  LoadedRegistryRows,
  NameMoveRow,
  RegistryRowKeys,
  WalletRow,
} from '../../registry/fold/rows.js'
import { BID_OUTCOME } from '../../registry/journal/bid.js'
import { mapKey } from '../../registry/primitives/bytes.js'
import { prepared, type Queryable, query } from '../pg/rows.js'
import { serialsOfHeldNamesSql } from '../registry/heldNames.js'
import { partitionName, partitionsOf } from './partitions.js'

/**
 * Chooses the clusters to load in full: clusters that changes refer to by id, clusters of actors, and clusters that
 * hold communities of the batch. If the batch has bids, also clusters of its privately verified wallets, because a bid
 * makes a wallet public. A batch of bids alone rarely needs any cluster.
 */
export function chooseClustersToLoad(
  { clusters, clusterSerials, verified, owners }: LoadedRegistryRows,
  keys: RegistryRowKeys,
): void {
  const whole = new Set<number>()
  for (const [id, serial] of clusterSerials) if (keys.clusterIds.has(id)) whole.add(serial)
  for (const [key, { cluster, isPrivate }] of verified)
    if ((isPrivate && keys.mayPublish) || keys.actors.has(key)) whole.add(cluster)
  for (const community of keys.communities.keys()) {
    const owner = owners.get(community)
    if (owner !== undefined) whole.add(owner)
  }
  for (const serial of whole) clusters.set(serial, { wallets: new Map(), names: [] })
}

/** Sends the statements that load wallets and names of the chosen clusters (`chooseClustersToLoad`). */
export const loadClusters = (
  db: Queryable,
  slice: LoadedRegistryRows,
  keys: RegistryRowKeys,
): Promise<void>[] =>
  slice.clusters.size > 0 ? [readWallets(db, slice, keys), readNames(db, slice, keys)] : []

/**
 * Number of names to read of a cluster whose names are moving: the names that the batch moves, and one more that shows
 * whether any is left.
 */
const nameLimitOfMove = ({ movedNames }: RegistryRowKeys): number => movedNames + 1

/**
 * Serials of clusters whose names may move, because a wallet leaves them to be verified in another cluster. With
 * several such wallets, one may also leave a cluster that it entered in the same batch.
 */
function clustersThatMayLoseNames(
  { verified, clusterSerials }: LoadedRegistryRows,
  { movers }: RegistryRowKeys,
): Set<number> {
  const left = new Set(movers.flatMap((key) => verified.get(key)?.cluster ?? []))
  if (movers.length > 1) for (const serial of clusterSerials.values()) left.add(serial)
  return left
}

/**
 * Reads the wallets of clusters. A cluster's private wallets are read only if a wallet of the batch is verified in it,
 * or if it lists the wallet that the batch verifies. If the batch verifies several wallets, all private wallets are
 * read. Nothing else depends on private wallets, and reading them for a stranger's change takes time that reveals their
 * number.
 */
async function readWallets(
  db: Queryable,
  { network, clusters, verified }: LoadedRegistryRows,
  keys: RegistryRowKeys,
): Promise<void> {
  const homes = new Set([...keys.wallets].map((key) => verified.get(key)?.cluster))
  const [mover = '', ...others] = keys.movers
  const serials = [...clusters.keys()]
  const wallets = `SELECT * FROM ${partitionName('wallets', network)} w WHERE w.network = $1 AND w.cluster = k.serial`
  // OFFSET 0 stops the planner from joining whole tables
  const text = `SELECT w.cluster, w.address, w.name, w.verified AS is_verified, w.private AS is_private, w.backed_up AS is_backed_up,
       w.created_seq, w.updated_seq, w.evidence_seq
     FROM unnest($2::int8[], $3::bool[]) AS k(serial, is_home)
     CROSS JOIN LATERAL (SELECT k.is_home OR EXISTS (${wallets} AND w.address = $4::bytea) AS is_own OFFSET 0) m
     CROSS JOIN LATERAL (${wallets} AND NOT w.private UNION ALL ${wallets} AND w.private AND m.is_own OFFSET 0) w`
  const rows = await query<WalletRow>(db, network, prepared(text), [
    serials,
    serials.map((serial) => others.length > 0 || homes.has(serial)),
    Buffer.from(mover, 'latin1'),
  ])
  for (const row of rows) clusters.get(row.cluster)!.wallets.set(mapKey(row.address), row)
}

/**
 * Reads names of clusters: the oldest name, communities, names that the batch may make communities, and the oldest
 * names of clusters whose names may move (`nameLimitOfMove`). Reading all names is too slow under the head's lock: a
 * cluster may hold a hundred thousand names.
 */
async function readNames(
  db: Queryable,
  slice: LoadedRegistryRows,
  keys: RegistryRowKeys,
): Promise<void> {
  const { network, clusters } = slice
  const left = clustersThatMayLoseNames(slice, keys)
  const serials = [...clusters.keys()]
  const names = `SELECT n.name, n.seq FROM ${partitionName('names', network)} n WHERE n.network = $1 AND n.cluster = p.cluster`
  const parts = serialsOfHeldNamesSql(partitionsOf(network), 'k.serial')
  const text = `SELECT k.serial AS cluster, n.name, n.seq FROM unnest($2::int8[], $3::bool[]) AS k(serial, is_left)
     CROSS JOIN LATERAL (${parts}) p
     CROSS JOIN LATERAL (
       (${names} ORDER BY n.seq LIMIT 1)
       UNION (${names} AND n.community)
       UNION (${names} AND n.name = ANY ($4::text[]) AND n.outcome = ${BID_OUTCOME.won})
       UNION (${names} AND k.is_left ORDER BY n.seq LIMIT $5)
     ) n ORDER BY n.seq`
  const rows = await query<{ cluster: number; name: string; seq: number }>(
    db,
    network,
    prepared(text),
    [
      serials,
      serials.map((serial) => left.has(serial)),
      [...keys.communities.keys()],
      nameLimitOfMove(keys),
    ],
  )
  for (const { cluster, name, seq } of rows) clusters.get(cluster)!.names.push({ name, seq })
}

/**
 * Loads the moves from or to loaded clusters, and the moves that the batch continues. Loads the next names of the
 * continued moves only.
 */
export async function loadMovesInProgress(
  db: Queryable,
  { network, clusters, clusterSerials, moves }: LoadedRegistryRows,
  keys: RegistryRowKeys,
): Promise<void> {
  const continued = new Set(keys.continuedMoves.flatMap((id) => clusterSerials.get(id) ?? []))
  const text = `SELECT m.source, m.target, m.seq, m.actor, n.name, n.seq AS name_seq FROM ${partitionName('moves', network)} m
     LEFT JOIN LATERAL (
       SELECT name, seq FROM ${partitionName('names', network)} n
       WHERE n.network = $1 AND n.cluster = m.source AND m.source = ANY ($3::int8[]) ORDER BY n.seq LIMIT $4
     ) n ON true
     WHERE m.network = $1 AND (m.source = ANY ($2::int8[]) OR m.target = ANY ($2::int8[])) ORDER BY m.seq, n.seq`
  const values = [[...clusters.keys(), ...continued], [...continued], nameLimitOfMove(keys)]
  const rows = await query<NameMoveRow & { name: string | null; nameSeq: number | null }>(
    db,
    network,
    text,
    values,
  )
  const names = new Map<number, ClusterName[]>()
  for (const { name, nameSeq, ...row } of rows) {
    if (!names.has(row.source)) {
      names.set(row.source, [])
      moves.set(row.source, { ...row, names: names.get(row.source)! })
    }
    if (name !== null) names.get(row.source)!.push({ name, seq: nameSeq! })
  }
}
