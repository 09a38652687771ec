import { BID_OUTCOME } from '../../registry/journal/bid.js'
import {
  ACTOR_PREFIX_BYTES,
  actorOfChange,
  isClusterChangeKind,
} from '../../registry/journal/change.js'
import { ENTRY_KIND, entryKindOfCode } from '../../registry/journal/entry.js'
import type { Network } from '../../registry/primitives/network.js'
import type { EvidenceMark } from '../../registry/transparencyLog/evidence.js'
import {
  journalEntrySql,
  type PartitionNames,
  prepareSingleValue,
  prepareStatement,
} from '../journal/partitions.js'
import type { Queryable } from '../pg/rows.js'
import { holderOfNameSql } from './heldNames.js'
import { oldestNameSql } from './lookups.js'
import { publicWalletSql } from './publicWallets.js'

/** A cluster as shown to a caller. Times are Unix ms. Actors are stored addresses, null where private. */
export interface ClusterForViewer {
  id: Buffer
  createdMs: number
  createdBy: Buffer | null
  wallets: ClusterWallet[]
}

interface ClusterWallet {
  address: Buffer
  name: string
  isVerified: boolean
  isPrivate: boolean
  isBackedUp: boolean
  /** Null in a mirror, which does not know the evidence of wallets. */
  evidence: EvidenceMark | null
  createdMs: number
  updatedMs: number
  updatedBy: Buffer | null
}

interface ClusterWalletRow extends Omit<ClusterWallet, 'address'> {
  id: Buffer
  clusterMs: number
  clusterBy: Buffer | null
  /** Null in the single row of a cluster without wallets. */
  address: Buffer | null
  /**
   * Kind and first bytes of the wallet's newest change. Null unless the viewer is verified in the cluster, since the
   * bytes also name private actors.
   */
  updatedKind: number | null
  updatedBody: Buffer | null
}

/** Maximum number of a wallet's public entries, from its addition on, that are searched for a bid that won. */
const SEARCHED_ENTRIES = 32
/** First two bytes of the effects of a bid that won, in hex. The serial of the name's holder follows them. */
const WON_EFFECTS_PREFIX_HEX = Buffer.of(1, BID_OUTCOME.won).toString('hex')
/**
 * SQL: the `EvidenceMark` that shows how wallet `w` proved that it belongs to cluster `c`. `created` is the journal
 * entry that added `w`, and `h` the head.
 */
const evidenceMarkSql = (
  l: PartitionNames,
): string => `CASE WHEN h.proved_block IS NOT NULL THEN NULL
    WHEN w.verified AND w.evidence_seq IS NOT NULL THEN 'signed'
    WHEN w.verified AND EXISTS (SELECT FROM (
      SELECT j.kind, j.effects FROM ${l.journal} j WHERE j.network = ${l.network} AND j.generation = h.generation
        AND j.actor = w.address AND j.public_count > 0 AND j.public_first >= created.public_first
      ORDER BY j.public_first LIMIT ${SEARCHED_ENTRIES}
    ) j WHERE j.kind = ${ENTRY_KIND.bid} AND substring(j.effects FROM 1 FOR 10) = '\\x${WON_EFFECTS_PREFIX_HEX}'::bytea || int8send(c.serial)) THEN 'registered'
    ELSE 'unsigned' END`

/**
 * SQL: a cluster with its public wallets, oldest first, and its private wallets for a `viewer` that is verified in it.
 */
const clusterForViewerSql = (l: PartitionNames, serial: string, viewer: string): string => `
  SELECT c.id, cj.at_ms AS cluster_ms, cj.actor AS cluster_by,
    w.address, w.name, w.is_verified, w.is_private, w.is_backed_up, w.created_ms, w.updated_ms, w.updated_by,
    w.updated_kind, w.updated_body, w.evidence
  FROM journal_heads h
  JOIN ${l.clusters} c ON c.network = ${l.network} AND c.serial = ${serial}
  CROSS JOIN LATERAL (SELECT EXISTS (
    SELECT FROM ${l.wallets} v
    WHERE v.network = ${l.network} AND v.cluster = c.serial AND v.address = ${viewer}::bytea AND v.verified
  ) AS is_member) m
  CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'c.created_seq')}) cj
  LEFT JOIN LATERAL (
    SELECT w.address, w.name, w.verified AS is_verified, w.private AS is_private, w.backed_up AS is_backed_up, w.created_seq,
      ${evidenceMarkSql(l)} AS evidence, created.at_ms AS created_ms, updated.at_ms AS updated_ms, updated.actor AS updated_by,
      CASE WHEN m.is_member THEN updated.kind END AS updated_kind,
      CASE WHEN m.is_member THEN substring(updated.body FROM 1 FOR ${ACTOR_PREFIX_BYTES}) END AS updated_body
    FROM (
      SELECT w.* FROM ${l.wallets} w WHERE w.network = ${l.network} AND w.cluster = c.serial AND NOT w.private
      UNION ALL
      SELECT w.* FROM ${l.wallets} w WHERE w.network = ${l.network} AND w.cluster = c.serial AND w.private AND m.is_member
    ) w
    CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'w.created_seq')}) created
    CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'w.updated_seq')}) updated
  ) w ON true
  WHERE h.network = ${l.network}
  ORDER BY w.created_seq, w.address`

/**
 * Makes a function that reads a cluster by a key. If the wallet `viewer` (stored address) is verified in the cluster,
 * the result includes private wallets. The function returns null where no cluster has the key.
 * @param serial SQL that finds the cluster's serial by the key (`$1`)
 */
function createClusterReader<Key>(serial: (l: PartitionNames) => string) {
  const read = prepareStatement<ClusterWalletRow>((l) =>
    clusterForViewerSql(l, `(${serial(l)})`, '$2'),
  )
  return async (
    db: Queryable,
    network: Network,
    key: Key,
    viewer: Buffer | null = null,
  ): Promise<ClusterForViewer | null> => clusterFromRows(await read(db, network, key, viewer))
}

export const findClusterById = createClusterReader<Buffer>(
  (l) => `SELECT serial FROM ${l.clusters} WHERE network = ${l.network} AND id = $1`,
)

export const findClusterByName = createClusterReader<string>((l) => holderOfNameSql(l, '$1'))

/** Id of the cluster that holds a name, without its wallets. Null where no cluster holds it. */
export const findClusterIdByName = prepareSingleValue<Buffer, [name: string]>(
  (l) =>
    `SELECT id FROM ${l.clusters} WHERE network = ${l.network} AND serial = (${holderOfNameSql(l, '$1')})`,
)

/**
 * Id of the cluster in which an address is verified, or null. A private verification is found only if the address is
 * `viewer`.
 */
export const findClusterIdOfWallet = prepareSingleValue<
  Buffer,
  [address: Buffer, viewer: Buffer | null | undefined]
>(
  (l) => `SELECT c.id FROM (
      SELECT cluster FROM (${publicWalletSql(l, '$1')}) p WHERE verified
      UNION ALL
      SELECT cluster FROM ${l.wallets} WHERE network = ${l.network} AND address = $2::bytea AND verified AND $1 = $2
    ) w
    CROSS JOIN LATERAL (SELECT id FROM ${l.clusters} WHERE network = ${l.network} AND serial = w.cluster LIMIT 1) c`,
)

/** A cluster that lists an address in public, in which the address is not verified. */
export interface Invitation {
  clusterId: Buffer
  clusterName: string | null
  walletName: string
}

/**
 * Clusters that list an address in public, though it is not verified there. The newest wallet row comes first, so that
 * old invitations of strangers can't displace a new one.
 */
export const findInvitations = prepareStatement<Invitation, [address: Buffer, limit: number]>(
  (l) => `SELECT c.id AS cluster_id, held.name AS cluster_name, w.name AS wallet_name FROM (
      SELECT cluster, name, created_seq FROM ${l.wallets}
      WHERE network = ${l.network} AND address = $1 AND NOT private AND NOT verified
      ORDER BY created_seq DESC, cluster DESC LIMIT $2
    ) w
    JOIN ${l.clusters} c ON c.network = ${l.network} AND c.serial = w.cluster
    LEFT JOIN LATERAL (${oldestNameSql(l, 'w.cluster')}) held ON true
    ORDER BY w.created_seq DESC, w.cluster DESC`,
)

/** The given id (32 bytes) if a cluster has it, otherwise null. */
export const findKnownClusterId = prepareSingleValue<Buffer, [id: Buffer]>(
  (l) => `SELECT id FROM ${l.clusters} WHERE network = ${l.network} AND id = $1`,
)

function clusterFromRows(rows: readonly ClusterWalletRow[]): ClusterForViewer | null {
  const [first] = rows
  if (!first) return null
  // A private actor is shown only while it is verified in the cluster: members who joined after it has left never saw
  // it. An unverified wallet row of its address is not enough, since any member may add one.
  const members = new Set(
    rows.flatMap(({ address, isVerified }) =>
      address && isVerified ? [address.toString('hex')] : [],
    ),
  )
  const ifMember = (actor: Buffer | null) =>
    actor && members.has(actor.toString('hex')) ? actor : null
  return {
    id: first.id,
    createdMs: first.clusterMs,
    createdBy: first.clusterBy,
    wallets: rows.flatMap(
      ({ id, clusterMs, clusterBy, address, updatedKind, updatedBody, updatedBy, ...wallet }) =>
        address === null
          ? []
          : [
              {
                address,
                updatedBy: ifMember(actorInBody(updatedKind, updatedBody)) ?? updatedBy,
                ...wallet,
              },
            ],
    ),
  }
}

/**
 * The actor in the body of a signed change of a cluster, null for other entries. The entry's public actor may be
 * another wallet, shown in place of a private one.
 */
function actorInBody(code: number | null, body: Buffer | null): Buffer | null {
  if (code === null || !body) return null
  const kind = entryKindOfCode(code)
  return isClusterChangeKind(kind) ? actorOfChange(kind, body) : null
}
