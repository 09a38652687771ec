import type { Keys, MoveRow, Slice } from '../../../registry/fold/index.js'
import type { ClusterName } from '../../../registry/fold/rows.js'
import { leaf } from '../../pg/partitions.js'
import { type Queryable, query } from '../../pg/rows.js'
import { readOfMoving } from '../sliceClusters.js'

/** Loads the moves of whole clusters, and those that slices carry on, with their next names. */
export async function loadMoves(
  db: Queryable,
  { network, clusters, clusterSerials, moves }: Slice,
  keys: Keys,
): Promise<void> {
  const sliced = new Set(keys.slices.flatMap((id) => clusterSerials.get(id) ?? []))
  const text = `SELECT m.source, m.target, m.seq, m.actor, n.name, n.seq AS name_seq FROM ${leaf('moves', network)} m
     LEFT JOIN LATERAL (
       SELECT name, seq FROM ${leaf('names', network)} n
       WHERE n.network = $1 AND n.cluster = m.source AND m.source = ANY ($3::int8[]) ORDER BY n.seq LIMIT $4
     ) n ON true
     WHERE m.network = $1 AND (m.source = ANY ($2::int8[]) OR m.target = ANY ($2::int8[])) ORDER BY m.seq, n.seq`
  const values = [[...clusters.keys(), ...sliced], [...sliced], readOfMoving(keys)]
  const rows = await query<MoveRow & { name: string | null; nameSeq: number | null }>(db, network, text, values)
  const names = new Map<number, ClusterName[]>()
  for (const { name, nameSeq, ...row } of rows) {
    if (!names.has(row.source)) {
      names.set(row.source, [])
      moves.set(row.source, { ...row, names: names.get(row.source)! })
    }
    if (name !== null) names.get(row.source)!.push({ name, seq: nameSeq! })
  }
}
