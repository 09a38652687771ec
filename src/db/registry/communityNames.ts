import type { CommunityPrice, CommunityRules } from '../../registry/community/rules.js'
import { BID_OUTCOME } from '../../registry/journal/bid.js'
import { entryKindOfCode } from '../../registry/journal/entry.js'
import { decodePayment } from '../../registry/journal/payment.js'
import { communityRulesOfBody } from '../../registry/journal/storedRules.js'
import { PAYMENT_KIND, PAYMENT_OUTCOME, PAYMENT_STATE } from '../../registry/payment/payment.js'
import { mapKey } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import {
  journalEntrySql,
  type PartitionNames,
  prepareSingleRow,
  prepareSingleValue,
  prepareStatement,
} from '../journal/partitions.js'
import { propertyArrays } from '../pg/arrays.js'
import type { Queryable } from '../pg/rows.js'
import { holderOfNameSql, nameHolderSql } from './heldNames.js'
import type { JournalPageRequest } from './owners.js'
import { publicWalletSql } from './publicWallets.js'

const readCurrentRules = prepareSingleValue<Buffer>(
  (l) => `SELECT j.body FROM journal_heads h
    CROSS JOIN LATERAL (
      SELECT seq FROM ${l.communities} WHERE network = ${l.network} AND name = $1 ORDER BY seq DESC LIMIT 1
    ) c
    CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'c.seq')}) j
    WHERE h.network = ${l.network}`,
)

/** Current rules of a community, by its canonical name. Null if the name is not a community. */
export async function findCommunityRules(
  db: Queryable,
  network: Network,
  name: string,
): Promise<CommunityRules | null> {
  const body = await readCurrentRules(db, network, name)
  return body && communityRulesOfBody(body)
}

const nextCommunitySql = (l: PartitionNames, after: string): string =>
  `SELECT name FROM ${l.communities} WHERE network = ${l.network} AND name > ${after} ORDER BY name LIMIT 1`

const readCommunities = prepareStatement<{ name: string }>(
  // Probes the index once for each community. A plain scan would read a row for each change of a community's rules.
  (l) => `WITH RECURSIVE found AS (
      (${nextCommunitySql(l, '$1')})
      UNION ALL
      SELECT next.name FROM found CROSS JOIN LATERAL (${nextCommunitySql(l, 'found.name')}) next
    )
    SELECT name FROM found LIMIT $2`,
)

/**
 * A page of the names that are communities, in ASCII order.
 * @param after last name of the previous page; empty for the first page
 */
export async function findCommunities(
  db: Queryable,
  network: Network,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await readCommunities(db, network, after, limit)
  return rows.map(({ name }) => name)
}

/**
 * Maximum number of payers returned for a name, since the caller may make twenty calls to chains for each. So a name
 * may look free although a further payer gets it. Whoever pays for it then gets a refund.
 */
const MAX_PAYERS = 8

/**
 * SQL condition on a row `n` of `community_names`: the payment that bought the name was refused or reclaimed, so the
 * next payment gets the name.
 */
const isFreedSql = (l: PartitionNames): string => `EXISTS (SELECT FROM payments was
  JOIN journal_heads h ON h.network = ${l.network}
  JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'n.seq')}) e
    ON e.chain = was.chain AND e.block = was.block AND e.log_index = was.sequence
  WHERE was.network = ${l.network} AND was.payer = n.address AND was.outcome <> ${PAYMENT_OUTCOME.released}
    AND was.community = n.community AND was.name = n.name)`

const readFreedNames = prepareStatement<{ id: Buffer; seq: number }>(
  (l) => `SELECT p.id, n.seq FROM payments p
    JOIN ${l.community_names} n ON n.network = ${l.network} AND n.community = p.community AND n.name = p.name
    WHERE p.network = ${l.network} AND p.id = ANY ($1) AND ${isFreedSql(l)}`,
)

/**
 * Finds out which of the given payments are for a name that is free again: an earlier payment bought it, and was then
 * refused or reclaimed.
 * @returns sequence number of the earlier payment's journal entry, by the id of the given payment (`mapKey`)
 */
export async function findFreedNames(db: Queryable, network: Network, ids: readonly Buffer[]) {
  return new Map((await readFreedNames(db, network, ids)).map(({ id, seq }) => [mapKey(id), seq]))
}

/** Values: community, name, then the prices as four arrays. */
const readCommunityNameAvailabilityRow = prepareSingleRow<{ isTaken: boolean; payers: Buffer[] }>(
  (l) => `SELECT
      EXISTS (SELECT FROM ${l.community_names} n WHERE network = ${l.network} AND community = $1 AND name = $2
        AND NOT (cardinality($3::text[]) > 0 AND ${isFreedSql(l)}))
      OR EXISTS (
        SELECT FROM ${l.names} n JOIN ${l.wallets} w ON w.network = ${l.network} AND w.cluster = ${nameHolderSql(l, 'n.cluster')}
        WHERE n.network = ${l.network} AND n.name = $1 AND n.outcome = ${BID_OUTCOME.won} AND w.name = $2 AND NOT w.private
      ) AS is_taken,
      array(
        SELECT p.payer FROM payments p
        JOIN chains c ON c.network = p.network AND c.chain = p.chain
        JOIN unnest($3::text[], $4::text[], $5::text[], $6::numeric[]) AS price(label, token, recipient, amount)
          ON price.label = c.label AND price.token = p.token AND price.recipient = p.recipient AND price.amount <= p.amount
        WHERE p.network = ${l.network} AND p.community = $1 AND p.name = $2
          AND p.kind = ${PAYMENT_KIND.communityName} AND p.state < ${PAYMENT_STATE.done}
        GROUP BY p.payer ORDER BY min(p.paid_ms), p.payer LIMIT ${MAX_PAYERS}
      ) AS payers`,
)

/**
 * Whether a name below a community is taken: it is registered, or a public wallet of the community's cluster has it. If
 * names have a price, a registration whose payment was refused or reclaimed does not count. `payers` are stored
 * addresses of those whose pending payment for the name covers one of the prices, earliest first, at most `MAX_PAYERS`.
 */
export async function readCommunityNameAvailability(
  db: Queryable,
  network: Network,
  { community, name }: { community: string; name: string },
  prices: readonly CommunityPrice[],
): Promise<{ isTaken: boolean; payers: Buffer[] }> {
  const row = await readCommunityNameAvailabilityRow(
    db,
    network,
    community,
    name,
    ...propertyArrays(prices, 'network', 'token', 'recipient'),
    prices.map(({ amount }) => amount.toString()),
  )
  return row!
}

const readRights = prepareSingleRow<CallerRights>((l) => {
  const home = (wallet: string) =>
    `(SELECT cluster FROM ${l.wallets} WHERE network = ${l.network} AND address = ${wallet} AND verified)`
  return `SELECT
      coalesce(${home('$2')} = (${holderOfNameSql(l, '$1')}), false) AS is_owner,
      coalesce($2::bytea = $3::bytea OR ${home('$2')} = ${home('$3')}, false) AS is_own,
      EXISTS (SELECT FROM ${l.community_names} n WHERE network = ${l.network} AND community = $1 AND name = $4 AND address = $3
        AND NOT ${isFreedSql(l)}) AS is_held`
})

/** What decides whether a caller may register a name below a community for a wallet. */
interface CallerRights {
  /** True if the caller is verified in the cluster that holds the community. */
  isOwner: boolean
  /** True if the wallet that gets the name is the caller, or is verified in the caller's cluster. */
  isOwn: boolean
  /** True if the wallet already holds the name, and its payment was not refunded. */
  isHeld: boolean
}

/** Reads the rights of a registration's caller. The result is private data, for the caller only. */
export async function readCallerRights(
  db: Queryable,
  network: Network,
  {
    community,
    name,
    caller,
    wallet,
  }: { community: string; name: string; caller: Buffer; wallet: Buffer },
): Promise<CallerRights> {
  return (await readRights(db, network, community, caller, wallet, name))!
}

/** A name below a community that an address owns. `atMs`: time of the registration, Unix ms. */
export interface OwnedCommunityName {
  community: string
  name: string
  /** Stored address of the owner. */
  address: Buffer
  /** Serial and id of the cluster in which the owner is verified in public. Null without such a cluster. */
  cluster: number | null
  clusterId: Buffer | null
  /** Payment that bought the name. Null for a name without a price. */
  paid: { network: string; token: string; amount: bigint } | null
  atMs: number
  /** Stored address of the registrant. Null where the registrant is private. */
  by: Buffer | null
}

type OwnedCommunityNameRow = Omit<OwnedCommunityName, 'paid'> & { kind: number; body: Buffer }

const communityNamesSql = (l: PartitionNames): string =>
  `SELECT n.community, n.name, n.address, c.serial AS cluster, c.id AS cluster_id, j.at_ms, j.actor AS by, j.kind, j.body
    FROM ${l.community_names} n
    JOIN journal_heads h ON h.network = ${l.network}
    CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'n.seq')}) j
    LEFT JOIN LATERAL (${publicWalletSql(l, 'n.address')}) w ON w.verified
    LEFT JOIN ${l.clusters} c ON c.network = ${l.network} AND c.serial = w.cluster
    WHERE n.network = ${l.network}`

const readRecordsOfAddress = prepareStatement<OwnedCommunityNameRow>(
  (l) => `${communityNamesSql(l)} AND n.address = $1 AND n.seq > $2 ORDER BY n.seq LIMIT $3`,
)

const communityNameFromRow = ({
  kind,
  body,
  ...name
}: OwnedCommunityNameRow): OwnedCommunityName => ({
  ...name,
  paid: entryKindOfCode(kind) === 'pay_community_name' ? decodePayment(body).payment : null,
})

/** A page of the names below communities that an address owns, oldest first. */
export async function findOwnedCommunityNames(
  db: Queryable,
  network: Network,
  address: Buffer,
  { after, limit }: JournalPageRequest,
): Promise<OwnedCommunityName[]> {
  return (await readRecordsOfAddress(db, network, address, after, limit)).map(communityNameFromRow)
}

const readRecordsOfCommunity = prepareStatement<OwnedCommunityNameRow>(
  (l) =>
    `${communityNamesSql(l)} AND n.community = $1 AND n.name = ANY ($2::text[]) ORDER BY n.name`,
)

/** Records of the given names below a community that have an owner, in ASCII order. */
export async function findCommunityNameRecords(
  db: Queryable,
  network: Network,
  community: string,
  names: readonly string[],
): Promise<OwnedCommunityName[]> {
  return (await readRecordsOfCommunity(db, network, community, names)).map(communityNameFromRow)
}

/**
 * A page of the names below a community with their owners' stored addresses, in ASCII order.
 * @param after last name of the previous page
 */
export const findCommunityMembers = prepareStatement<
  { name: string; address: Buffer },
  [community: string, after: string, limit: number]
>(
  (l) => `SELECT name, address FROM ${l.community_names}
    WHERE network = ${l.network} AND community = $1 AND name > $2 ORDER BY name LIMIT $3`,
)

const readNamesOfVerifiedWallet = prepareStatement<{ name: string }>(
  (l) => `SELECT i.name FROM unnest($2::text[]) AS i(name)
    CROSS JOIN LATERAL (${holderOfNameSql(l, 'i.name')}) n
    JOIN (${publicWalletSql(l, '$1')}) w ON w.verified AND w.cluster = n.cluster`,
)

/**
 * Returns those of the given names that are held by the cluster in which a wallet is publicly verified. Private
 * membership does not count: a name below a community that is granted because of a private membership would reveal it.
 * @param address stored form
 * @param names canonical names of clusters
 */
export async function findClusterNamesOfVerifiedWallet(
  db: Queryable,
  network: Network,
  address: Buffer,
  names: readonly string[],
): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  return new Set(
    (await readNamesOfVerifiedWallet(db, network, address, names)).map(({ name }) => name),
  )
}
