import type { RulesVersion } from '../../registry/community/history.js'
import type { CommunityRules } from '../../registry/community/rules.js'
import { decodePayment, rulesOfBody } from '../../registry/journal/communityChange.js'
import { entryKind } from '../../registry/journal/entry.js'
import type { Network } from '../../registry/primitives/network.js'
import { entryAt, prepare, type Queryable } from '../pg/prepared.js'

const rulesNow = prepare<{ body: Buffer }>(
  'community_rules',
  (l) => `SELECT j.body FROM journal_heads h
    CROSS JOIN LATERAL (
      SELECT seq FROM ${l.communities} WHERE network = ${l.network} AND name = $1 ORDER BY seq DESC LIMIT 1
    ) c
    CROSS JOIN LATERAL (${entryAt(l, 'h.generation', 'c.seq')}) j
    WHERE h.network = ${l.network}`,
)

/** The rules of a community as they stand, null when the (canonical) name is none. */
export async function findCommunityRules(
  db: Queryable,
  network: Network,
  name: string,
): Promise<CommunityRules | null> {
  const rows = await rulesNow(db, network, [name])
  return rows[0] ? rulesOfBody(rows[0].body) : null
}

/** All rules of a community there ever were, oldest first; none where the (canonical) name is no community. */
export async function findCommunityHistory(db: Queryable, network: Network, name: string): Promise<RulesVersion[]> {
  const rows = await history(db, network, [name])
  return rows.map(({ at_ms, body }) => ({ atMs: at_ms, rules: rulesOfBody(body) }))
}

const history = prepare<{ at_ms: number; body: Buffer }>(
  'community_history',
  (l) => `SELECT j.at_ms, j.body FROM journal_heads h
    JOIN ${l.communities} c ON c.network = ${l.network} AND c.name = $1
    CROSS JOIN LATERAL (${entryAt(l, 'h.generation', 'c.seq')}) j
    WHERE h.network = ${l.network} ORDER BY c.seq`,
)

/** All communities by name, with how many names there are below each. */
export async function listCommunities(
  db: Queryable,
  network: Network,
): Promise<{ name: string; names: number; rules: CommunityRules }[]> {
  const rows = await communities(db, network, [])
  return rows.map(({ name, names, body }) => ({ name, names, rules: rulesOfBody(body) }))
}

const communities = prepare<{ name: string; names: number; body: Buffer }>(
  'communities',
  (l) => `SELECT c.name, n.names, j.body FROM journal_heads h
    CROSS JOIN (SELECT name, max(seq) AS seq FROM ${l.communities} WHERE network = ${l.network} GROUP BY name) c
    CROSS JOIN LATERAL (SELECT count(*) AS names FROM ${l.communityNames} WHERE network = ${l.network} AND community = c.name) n
    CROSS JOIN LATERAL (${entryAt(l, 'h.generation', 'c.seq')}) j
    WHERE h.network = ${l.network} ORDER BY c.name`,
)

const availability = prepare<{ taken: boolean; pending: boolean }>(
  'community_availability',
  (l) => `SELECT
      EXISTS (SELECT FROM ${l.communityNames} WHERE network = ${l.network} AND community = $1 AND name = $2)
      OR EXISTS (
        SELECT FROM ${l.names} n JOIN ${l.wallets} w ON w.network = ${l.network} AND w.cluster = n.cluster
        WHERE n.network = ${l.network} AND n.name = $1 AND n.outcome = 1 AND w.name = $2 AND NOT w.private
      ) AS taken,
      EXISTS (
        SELECT FROM community_payments p
        WHERE p.network = ${l.network} AND p.community = $1 AND p.name = $2 AND NOT p.appended
      ) AS pending`,
)

/**
 * Whether a name below a community can be had: `taken` by somebody, or as a public wallet name of the community's cluster;
 * `pending` while a payment for it is under way.
 */
export async function communityNameAvailability(
  db: Queryable,
  network: Network,
  community: string,
  name: string,
): Promise<'free' | 'taken' | 'pending'> {
  const [row] = await availability(db, network, [community, name])
  if (row?.taken) return 'taken'
  return row?.pending ? 'pending' : 'free'
}

const standing = prepare<{ is_owner: boolean; is_own: boolean }>('community_standing', (l) => {
  const home = (wallet: string) =>
    `(SELECT cluster FROM ${l.wallets} WHERE network = ${l.network} AND address = ${wallet} AND verified)`
  return `SELECT
      coalesce(${home('$2')} = (SELECT cluster FROM ${l.names} WHERE network = ${l.network} AND name = $1 AND outcome = 1), false)
        AS is_owner,
      coalesce($2::bytea = $3::bytea OR ${home('$2')} = ${home('$3')}, false) AS is_own`
})

/**
 * How a caller stands to a community and to the wallet that is to get a name: whether it is verified in the cluster that holds
 * the community, and whether that wallet is itself, or verified in the same cluster. For the caller alone.
 */
export async function standingOf(
  db: Queryable,
  network: Network,
  { community, caller, wallet }: { community: string; caller: Buffer; wallet: Buffer },
): Promise<{ isOwner: boolean; isOwn: boolean }> {
  const [row] = await standing(db, network, [community, caller, wallet])
  return { isOwner: row!.is_owner, isOwn: row!.is_own }
}

/** A name below a community that an address owns. Times in milliseconds. */
export interface OwnedCommunityName {
  community: string
  name: string
  /** The cluster in which the owner is verified in public, null for none. */
  clusterId: Buffer | null
  /** What was paid for it, null where it was free. */
  paid: { network: string; token: string; amount: bigint } | null
  atMs: number
  /** Stored address, null where none may be named. */
  by: Buffer | null
}

interface OwnedColumns {
  community: string
  name: string
  cluster_id: Buffer | null
  at_ms: number
  actor: Buffer | null
  kind: number
  body: Buffer
}

const owned = prepare<OwnedColumns>(
  'owned_community_names',
  (l) => `SELECT n.community, n.name, c.id AS cluster_id, j.at_ms, j.actor, j.kind, j.body
    FROM ${l.communityNames} n
    JOIN journal_heads h ON h.network = ${l.network}
    CROSS JOIN LATERAL (${entryAt(l, 'h.generation', 'n.seq')}) j
    LEFT JOIN ${l.wallets} w ON w.network = ${l.network} AND w.address = n.address AND w.verified AND NOT w.private
    LEFT JOIN ${l.clusters} c ON c.network = ${l.network} AND c.serial = w.cluster
    WHERE n.network = ${l.network} AND n.address = $1
    ORDER BY n.seq`,
)

/** The names below communities that an address owns, oldest first. */
export async function findOwnedCommunityNames(
  db: Queryable,
  network: Network,
  address: Buffer,
): Promise<OwnedCommunityName[]> {
  const rows = await owned(db, network, [address])
  return rows.map(({ community, name, cluster_id, at_ms, actor, kind, body }) => ({
    community,
    name,
    clusterId: cluster_id,
    paid: entryKind(kind) === 'pay_community_name' ? decodePayment(body) : null,
    atMs: at_ms,
    by: actor,
  }))
}
