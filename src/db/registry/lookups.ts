import { BID_OUTCOME } from '../../registry/journal/bid.js'
import { mapKey } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { type PartitionNames, prepareStatement } from '../journal/partitions.js'
import { propertyArrays } from '../pg/arrays.js'
import { existsRowSql, type Queryable } from '../pg/rows.js'
import { holderOfNameSql, serialsOfHeldNamesSql } from './heldNames.js'
import { publicWalletSql } from './publicWallets.js'

/**
 * Reads each distinct input once, so that repeated inputs do not multiply the time of a request.
 * @param mapKey key by which inputs are compared
 * @param read returns rows; `ord` is the number, from 1, of a row's input among the distinct inputs
 * @returns one element per input, in the same order; null where there is no row
 */
export async function readDistinctInputs<Input, Row extends { ord: number }>(
  inputs: readonly Input[],
  mapKey: (input: Input) => string,
  read: (distinct: Input[]) => Promise<Row[]>,
): Promise<(Omit<Row, 'ord'> | null)[]> {
  if (inputs.length === 0) return []
  const keys = inputs.map(mapKey)
  const distinct = new Map(inputs.map((input, i) => [keys[i]!, input]))
  const distinctKeys = [...distinct.keys()]
  const rows = new Map<string, Omit<Row, 'ord'>>()
  for (const { ord, ...row } of await read([...distinct.values()]))
    rows.set(distinctKeys[ord - 1]!, row)
  return keys.map((key) => rows.get(key) ?? null)
}

/** Result of a look-up by address: a wallet of a cluster, or a name below a community. */
export interface AddressLookupResult {
  /**
   * With `isOfCommunity`, the community's name. Otherwise the oldest name that the wallet's cluster holds, null without
   * a name.
   */
  clusterName: string | null
  walletName: string
  isVerified: boolean
  /** True for a name below a community, which is independent of the wallet's cluster. */
  isOfCommunity: boolean
}

/**
 * SQL: public name of an address. It is the wallet's name in the cluster where the address is verified, if that cluster
 * holds a name. Otherwise it is the oldest name of the address below a community, or else the name in the verified
 * wallet row, or else the name in the oldest unverified wallet row.
 */
const publicNameSql = (l: PartitionNames, address: string): string => `
  SELECT CASE WHEN c.name IS NULL THEN e.cluster_name ELSE c.community END AS cluster_name,
    coalesce(c.name, e.wallet_name) AS wallet_name, coalesce(c.verified, e.is_verified) AS is_verified,
    c.name IS NOT NULL AS is_of_community
  FROM (VALUES (1)) AS one LEFT JOIN LATERAL (${publicWalletWithClusterNameSql(l, address)}) e ON true
  LEFT JOIN LATERAL (
    SELECT n.community, n.name, n.verified FROM ${l.community_names} n
    WHERE (e.is_verified AND e.cluster_name IS NOT NULL) IS NOT TRUE
      AND n.network = ${l.network} AND n.address = ${address} ORDER BY n.seq LIMIT 1
  ) c ON true
  WHERE e.wallet_name IS NOT NULL OR c.name IS NOT NULL`

/**
 * SQL: the public wallet row of an address (`publicWalletSql`), with the oldest name that its cluster holds, or null. A
 * join, so the wallet row is read once.
 */
const publicWalletWithClusterNameSql = (l: PartitionNames, address: string): string => `
  SELECT w.name AS wallet_name, w.verified AS is_verified, held.name AS cluster_name
  FROM (${publicWalletSql(l, address)}) w LEFT JOIN LATERAL (${oldestNameSql(l, 'w.cluster')}) held ON true`

/** SQL: the oldest name that a cluster holds. */
export const oldestNameSql = (l: PartitionNames, cluster: string): string => `
  SELECT n.name FROM (${serialsOfHeldNamesSql(l, cluster)}) held CROSS JOIN LATERAL (
    SELECT name, seq FROM ${l.names} WHERE network = ${l.network} AND cluster = held.cluster ORDER BY seq LIMIT 1
  ) n ORDER BY n.seq LIMIT 1`

const readNamesOfAddresses = prepareStatement<AddressLookupResult & { ord: number }>(
  (l) => `SELECT i.ord, e.* FROM unnest($1::bytea[]) WITH ORDINALITY AS i(address, ord)
    CROSS JOIN LATERAL (${publicNameSql(l, 'i.address')}) e`,
)

/** The public names of many addresses: one element per input, in the same order. Null for an address without one. */
export async function findNamesOfAddresses(
  db: Queryable,
  network: Network,
  addresses: readonly Buffer[],
): Promise<(AddressLookupResult | null)[]> {
  return readDistinctInputs(addresses, mapKey, (distinct) =>
    readNamesOfAddresses(db, network, distinct),
  )
}

export interface NameLookupResult {
  address: Buffer
  walletName: string
  isVerified: boolean
}

// Inputs without a wallet are grouped by cluster. Otherwise a request for many names of one cluster would read the
// cluster's wallets, up to a thousand, for each name.
const readWalletsByNames = prepareStatement<NameLookupResult & { ord: number }>((l) => {
  const inputs = 'unnest($1::text[], $2::text[]) WITH ORDINALITY AS i(cluster, wallet, ord)'
  const holder = holderOfNameSql(l, 'i.cluster')
  const ofCluster = `w.address, w.name, w.verified FROM ${l.wallets} w
    WHERE w.network = ${l.network} AND w.cluster = n.cluster AND NOT w.private`
  return `SELECT unnest(n.ords) AS ord, coalesce(main.address, oldest.address) AS address,
      coalesce(main.name, oldest.name) AS wallet_name, coalesce(main.verified, oldest.verified) AS is_verified
    FROM (SELECT n.cluster, array_agg(i.ord) AS ords FROM ${inputs} CROSS JOIN LATERAL (${holder}) n
      WHERE i.wallet IS NULL GROUP BY n.cluster) n
    LEFT JOIN LATERAL (SELECT ${ofCluster} AND w.name = 'main') main ON true
    LEFT JOIN LATERAL (
      SELECT ${ofCluster} AND w.verified AND main.address IS NULL ORDER BY w.created_seq, w.address LIMIT 1
    ) oldest ON true
    WHERE main.address IS NOT NULL OR oldest.address IS NOT NULL
    UNION ALL
    SELECT i.ord, w.address, w.name, w.verified
    FROM ${inputs}
    CROSS JOIN LATERAL (SELECT * FROM (
      SELECT 0 AS rank, n.address, n.name, n.verified FROM ${l.community_names} n
      WHERE n.network = ${l.network} AND n.community = i.cluster AND n.name = i.wallet
      UNION ALL
      SELECT 1, w.* FROM (${holder}) n CROSS JOIN LATERAL (SELECT ${ofCluster} AND w.name = i.wallet) w
    ) found ORDER BY rank LIMIT 1) w
    WHERE i.wallet IS NOT NULL`
})

/**
 * Public wallets that canonical names resolve to: one element per input, in the same order, null where a name resolves
 * to none. `cluster/wallet` resolves to the owner of that name below the community, or else to that wallet of the
 * cluster. The registered name comes first, because it stays with its owner when the cluster's name moves. `cluster`
 * resolves to its wallet `main`, or else to its oldest verified wallet.
 */
export async function findWalletsByNames(
  db: Queryable,
  network: Network,
  names: readonly { cluster: string; wallet: string | null }[],
): Promise<(NameLookupResult | null)[]> {
  return readDistinctInputs(
    names,
    ({ cluster, wallet }) => `${cluster}/${wallet ?? ''}`,
    (distinct) => readWalletsByNames(db, network, ...propertyArrays(distinct, 'cluster', 'wallet')),
  )
}

// this statement reads all wallets of each cluster, at most a thousand, because no index serves a pattern
const readWalletsOfTypes = prepareStatement<NameLookupResult & { ord: number }>(
  (
    l,
  ) => `SELECT i.ord, w.* FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS i(cluster, stored, ord)
    CROSS JOIN LATERAL (${holderOfNameSql(l, 'i.cluster')}) n CROSS JOIN LATERAL (
      SELECT w.address, w.name AS wallet_name, w.verified AS is_verified FROM ${l.wallets} w
      WHERE w.network = ${l.network} AND w.cluster = n.cluster AND NOT w.private AND w.verified
        AND encode(w.address, 'hex') ~ i.stored
      ORDER BY w.name <> 'main', w.created_seq, w.address LIMIT 1
    ) w`,
)

/**
 * For each input, a verified public wallet of one address type in the cluster that holds a name: the wallet named
 * `main` if its address has the type, or else the oldest. Null where the cluster has no such wallet, or nobody holds
 * the name.
 * @param all `cluster`: a canonical name. `stored`: pattern for the stored address in hex, which selects the address
 * type
 */
export const findClusterWalletsOfTypes = (
  db: Queryable,
  network: Network,
  all: readonly { cluster: string; stored: string }[],
) =>
  readDistinctInputs(
    all,
    ({ cluster, stored }) => `${cluster}/${stored}`,
    (distinct) => readWalletsOfTypes(db, network, ...propertyArrays(distinct, 'cluster', 'stored')),
  )

/** A cluster's wallets, with the feed's generation and newest event number at the time of the read. */
export interface WalletBundleSnapshot {
  generation: number
  newest: number
  /** The oldest name that the cluster holds. Null without a name or a cluster. */
  clusterName: string | null
  /**
   * Verified public wallets, each `<name>:<stored address in hex>`, separated by spaces: `main` first, then the oldest,
   * at most `MAX_WALLETS_PER_LOOKUP`. Null without a cluster.
   */
  wallets: string | null
}

/** Maximum number of wallets that a look-up returns for a cluster: `main`, then the oldest. */
export const MAX_WALLETS_PER_LOOKUP = 20

// Reads the wallets of a cluster once, however many of its addresses are requested. The wallets are one text, since the
// driver parses arrays slowly.
const readBundles = prepareStatement<WalletBundleSnapshot & { ord: number }>(
  (l) => `SELECT unnest(c.ords) AS ord, h.feed_generation AS generation, h.public_seq AS newest,
      held.name AS cluster_name, CASE WHEN c.cluster IS NOT NULL THEN coalesce(w.wallets, '') END AS wallets
    FROM journal_heads h CROSS JOIN (
      SELECT p.cluster, array_agg(i.ord) AS ords FROM unnest($1::bytea[]) WITH ORDINALITY AS i(address, ord)
      LEFT JOIN LATERAL (${publicWalletSql(l, 'i.address')}) p ON p.verified GROUP BY p.cluster
    ) c
    LEFT JOIN LATERAL (${oldestNameSql(l, 'c.cluster')}) held ON true
    CROSS JOIN LATERAL (SELECT string_agg(w.name || ':' || encode(w.address, 'hex'), ' ') AS wallets FROM (
      SELECT w.address, w.name FROM ${l.wallets} w
      WHERE w.network = ${l.network} AND w.cluster = c.cluster AND NOT w.private AND w.verified
        AND ($2::text IS NULL OR encode(w.address, 'hex') ~ $2)
      ORDER BY w.name <> 'main', w.created_seq, w.address LIMIT ${MAX_WALLETS_PER_LOOKUP}
    ) w) w
    WHERE h.network = ${l.network}`,
)

/**
 * For each address, in the order of the input, the cluster in which it is publicly verified, with the cluster's
 * wallets.
 * @param stored pattern for stored addresses in hex: only wallets that match are returned; null for all
 */
export async function findWalletBundles(
  db: Queryable,
  network: Network,
  addresses: readonly Buffer[],
  stored: string | null,
): Promise<WalletBundleSnapshot[]> {
  // no element is null: an address without a cluster has a row too
  return (await readDistinctInputs(addresses, mapKey, (distinct) =>
    readBundles(db, network, distinct, stored),
  )) as WalletBundleSnapshot[]
}

// A range, because in LIKE `_` would match any character. It ends at `~`, which sorts after all characters of names.
const readNamesBeginning = prepareStatement<{ name: string }>(
  (l) => `SELECT name FROM ${l.names} WHERE network = ${l.network} AND outcome = ${BID_OUTCOME.won}
      AND name >= $1 AND name < $1 || '~' ORDER BY name LIMIT $2`,
)

/** Registered names that begin with a text, in ASCII order. @param prefix in lower case */
export async function findNamesByPrefix(
  db: Queryable,
  network: Network,
  prefix: string,
  limit: number,
): Promise<string[]> {
  return (await readNamesBeginning(db, network, prefix, limit)).map(({ name }) => name)
}

export type NameAvailabilityState = 'free' | 'taken' | 'pending'

const readAvailability = prepareStatement<{ ord: number; taken: boolean; pending: boolean }>(
  (l) => `SELECT i.ord,
      ${existsRowSql(`${l.names} n WHERE n.network = ${l.network} AND n.name = i.name AND n.outcome = ${BID_OUTCOME.won}`)} AS taken,
      ${existsRowSql(`facts f WHERE f.network = ${l.network} AND f.name = i.name`)} AS pending
    FROM unnest($1::text[]) WITH ORDINALITY AS i(name, ord)`,
)

/** Availability of canonical names: `taken` by a confirmed bid, `pending` while an unconfirmed bid may win the name. */
export async function readNameAvailability(
  db: Queryable,
  network: Network,
  names: readonly string[],
): Promise<NameAvailabilityState[]> {
  const rows = await readDistinctInputs(
    names,
    (name) => name,
    (distinct) => readAvailability(db, network, distinct),
  )
  return rows.map((row) => {
    if (row?.taken) return 'taken'
    return row?.pending ? 'pending' : 'free'
  })
}
