import { actorOfChange, isChangeKind } from '../../registry/journal/change.js'
import { entryKind } from '../../registry/journal/entry.js'
import type { Network } from '../../registry/primitives/network.js'
import { entryAt, type Leaves, prepare, type Queryable } from '../pg/prepared.js'

/** A cluster as the public, or one of its members, sees it. Times in milliseconds; actors as stored addresses, null where none may be named. */
export interface ClusterView {
  id: Buffer
  createdMs: number
  createdBy: Buffer | null
  wallets: ClusterWallet[]
}

export interface ClusterWallet {
  address: Buffer
  name: string
  isVerified: boolean
  isPrivate: boolean
  isBackedUp: boolean
  createdMs: number
  updatedMs: number
  updatedBy: Buffer | null
}

interface Columns {
  id: Buffer
  cluster_ms: number
  cluster_by: Buffer | null
  address: Buffer | null
  name: string
  verified: boolean
  private: boolean
  backed_up: boolean
  created_ms: number
  updated_ms: number
  updated_by: Buffer | null
  /** For members alone: the newest change itself, which names who really made it. */
  updated_kind: number | null
  updated_body: Buffer | null
}

/**
 * A cluster with its public wallets, oldest first, and the private ones too where the wallet `viewer` is verified in it; one
 * row without an address when it has none.
 */
const clusterFor = (l: Leaves, serial: string, viewer: string): string => `
  SELECT c.id, cj.at_ms AS cluster_ms, cj.actor AS cluster_by,
    w.address, w.name, w.verified, w.private, w.backed_up, w.created_ms, w.updated_ms, w.updated_by,
    w.updated_kind, w.updated_body
  FROM journal_heads h
  JOIN ${l.clusters} c ON c.network = ${l.network} AND c.serial = ${serial}
  CROSS JOIN LATERAL (SELECT EXISTS (
    SELECT FROM ${l.wallets} v
    WHERE v.network = ${l.network} AND v.cluster = c.serial AND v.address = ${viewer}::bytea AND v.verified
  ) AS is_member) m
  CROSS JOIN LATERAL (${entryAt(l, 'h.generation', 'c.created_seq')}) cj
  LEFT JOIN LATERAL (
    SELECT w.address, w.name, w.verified, w.private, w.backed_up, w.created_seq,
      created.at_ms AS created_ms, updated.at_ms AS updated_ms, updated.actor AS updated_by,
      CASE WHEN m.is_member THEN updated.kind END AS updated_kind, CASE WHEN m.is_member THEN updated.body END AS updated_body
    FROM ${l.wallets} w
    CROSS JOIN LATERAL (${entryAt(l, 'h.generation', 'w.created_seq')}) created
    CROSS JOIN LATERAL (${entryAt(l, 'h.generation', 'w.updated_seq')}) updated
    WHERE w.network = ${l.network} AND w.cluster = c.serial AND (NOT w.private OR m.is_member)
  ) w ON true
  WHERE h.network = ${l.network}
  ORDER BY w.created_seq, w.address`

const byId = prepare<Columns>('cluster_by_id', (l) =>
  clusterFor(l, `(SELECT serial FROM ${l.clusters} WHERE network = ${l.network} AND id = $1)`, '$2'),
)

/**
 * The cluster with this id, null when there is none.
 * @param viewer stored address of the wallet that asks: one that is verified in the cluster sees all of it, anybody else what
 *   is public
 */
export async function findClusterById(
  db: Queryable,
  network: Network,
  id: Buffer,
  viewer: Buffer | null = null,
): Promise<ClusterView | null> {
  return view(await byId(db, network, [id, viewer]))
}

const byName = prepare<Columns>('cluster_by_name', (l) =>
  clusterFor(l, `(SELECT cluster FROM ${l.names} WHERE network = ${l.network} AND name = $1 AND outcome = 1)`, '$2'),
)

/** The same of the cluster that holds this (canonical) name, null when nobody does. */
export async function findClusterByName(
  db: Queryable,
  network: Network,
  name: string,
  viewer: Buffer | null = null,
): Promise<ClusterView | null> {
  return view(await byName(db, network, [name, viewer]))
}

const idByAddress = prepare<{ id: Buffer }>(
  'cluster_id_by_address',
  (l) => `SELECT c.id FROM ${l.wallets} w
    CROSS JOIN LATERAL (SELECT id FROM ${l.clusters} WHERE network = ${l.network} AND serial = w.cluster LIMIT 1) c
    WHERE w.network = ${l.network} AND w.address = $1 AND w.verified AND (NOT w.private OR w.address = $2)`,
)

/**
 * The id of the cluster in which this address is verified, null when there is none: in public, or privately where the
 * address itself asks.
 */
export async function findClusterId(
  db: Queryable,
  network: Network,
  address: Buffer,
  viewer: Buffer | null = null,
): Promise<Buffer | null> {
  const rows = await idByAddress(db, network, [address, viewer])
  return rows[0]?.id ?? null
}

const clusterExists = prepare<{ id: Buffer }>(
  'cluster_exists',
  (l) => `SELECT id FROM ${l.clusters} WHERE network = ${l.network} AND id = $1`,
)

/** Whether a cluster has this id. */
export async function isCluster(db: Queryable, network: Network, id: Buffer): Promise<boolean> {
  return (await clusterExists(db, network, [id])).length > 0
}

function view(rows: readonly Columns[]): ClusterView | null {
  const first = rows[0]
  if (!first) return null
  return {
    id: first.id,
    createdMs: first.cluster_ms,
    createdBy: first.cluster_by,
    wallets: rows.flatMap((row) => (row.address === null ? [] : [wallet(row, row.address)])),
  }
}

const wallet = (row: Columns, address: Buffer): ClusterWallet => ({
  address,
  name: row.name,
  isVerified: row.verified,
  isPrivate: row.private,
  isBackedUp: row.backed_up,
  createdMs: row.created_ms,
  updatedMs: row.updated_ms,
  updatedBy: row.updated_kind === null ? row.updated_by : realActor(row),
})

/** The public actor of a change may be a stand-in for a private one. */
function realActor({ updated_kind, updated_body, updated_by }: Columns): Buffer | null {
  const isChange = updated_kind !== null && updated_body && isChangeKind(entryKind(updated_kind))
  return isChange ? actorOfChange(updated_body) : updated_by
}
