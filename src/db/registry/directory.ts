import { ADDRESS_AND_TX_ID_FORMS } from '../../registry/forms/index.js'
import { BID_OFFSETS, BID_OUTCOME } from '../../registry/journal/bid.js'
import { wordToBigInt } from '../../registry/primitives/bytes.js'
import type { FullName } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'
import { journalEntrySql, prepareSingleRow, prepareStatement } from '../journal/partitions.js'
import type { Queryable } from '../pg/rows.js'
import { nameHolderSql } from './heldNames.js'

/** Items per page of a directory, and the highest offset of a page, in items from 0. */
export const DIRECTORY_PAGE_ITEMS = 50
export const MAX_DIRECTORY_OFFSET = 10_000
/** How many items all pages of a directory can show. Names that begin with a text are counted up to this number. */
export const MAX_DIRECTORY_ITEMS = MAX_DIRECTORY_OFFSET + DIRECTORY_PAGE_ITEMS

export interface NameListPage {
  /** Number of names on all pages. */
  total: number
  names: string[]
}

/** SQL: column with the page of an ordered list of names that begins at offset `$1`, at most `$2` names. */
const namePageSql = (names: string): string => `ARRAY(${names} OFFSET $1 LIMIT $2) AS names`

const readNewestNames = prepareSingleRow<NameListPage>((l) => {
  const won = `FROM ${l.names} WHERE network = ${l.network} AND outcome = ${BID_OUTCOME.won}`
  return `SELECT h.names + (SELECT count(*) ${won} AND seq > h.names_seq) AS total,
      ${namePageSql(`SELECT name ${won} ORDER BY seq DESC`)}
    FROM journal_heads h WHERE h.network = ${l.network}`
})

/** A page of all names that clusters hold, newest first. */
export const findNewestNames = async (
  db: Queryable,
  network: Network,
  offset: number,
  limit: number,
): Promise<NameListPage> => (await readNewestNames(db, network, offset, limit))!

// A range, because in LIKE `_` would match any character. It ends at `~`, which sorts after all characters of names.
const namesBeginningSql = (
  names: string,
): string => `WITH found AS MATERIALIZED (SELECT name FROM ${names} AND name >= $3 AND name < $3 || '~' ORDER BY name LIMIT ${MAX_DIRECTORY_ITEMS})
  SELECT (SELECT count(*) FROM found) AS total, ${namePageSql('SELECT name FROM found')}`

const readClusterNamesBeginning = prepareSingleRow<NameListPage>((l) =>
  namesBeginningSql(`${l.names} WHERE network = ${l.network} AND outcome = ${BID_OUTCOME.won}`),
)

const readCommunityNamesBeginning = prepareSingleRow<NameListPage>((l) =>
  namesBeginningSql(`${l.community_names} WHERE network = ${l.network} AND community = $4`),
)

/**
 * A page of the names that begin with a text, in ASCII order. For `club/al` they are names below the community `club`,
 * for a text without a slash names of clusters. `total` is at most `MAX_DIRECTORY_ITEMS`.
 */
export const findNamesBeginning = async (
  db: Queryable,
  network: Network,
  { cluster, wallet }: FullName,
  offset: number,
  limit: number,
): Promise<NameListPage> =>
  (wallet === null
    ? await readClusterNamesBeginning(db, network, offset, limit, cluster)
    : await readCommunityNamesBeginning(db, network, offset, limit, wallet, cluster))!

/** A name of a cluster, with the amount of its winning bid. Times are Unix ms. */
export interface ClusterNameRecord {
  name: string
  /** Serial of the cluster that holds the name. */
  cluster: number
  clusterId: Buffer
  amountWei: bigint
  createdMs: number
  updatedMs: number
  /** Stored address of the actor of the newest change. Null where the actor is private. */
  updatedBy: Buffer | null
}

const readClusterNameRecords = prepareStatement<
  Omit<ClusterNameRecord, 'amountWei'> & { amount: Buffer }
>(
  (
    l,
  ) => `SELECT n.name, c.serial AS cluster, c.id AS cluster_id, substring(created.body FROM ${BID_OFFSETS.amount + 1} FOR 32) AS amount,
      created.at_ms AS created_ms, updated.at_ms AS updated_ms, updated.actor AS updated_by
    FROM journal_heads h
    CROSS JOIN unnest($1::text[]) AS asked(name)
    JOIN ${l.names} n ON n.network = ${l.network} AND n.name = asked.name AND n.outcome = ${BID_OUTCOME.won}
    JOIN ${l.clusters} c ON c.network = ${l.network} AND c.serial = ${nameHolderSql(l, 'n.cluster')}
    CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'n.seq')}) created
    CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'n.updated_seq')}) updated
    WHERE h.network = ${l.network}`,
)

/** Records of canonical names of clusters, by name. Names that nobody holds are missing. */
export async function findClusterNameRecords(
  db: Queryable,
  network: Network,
  names: readonly string[],
): Promise<Map<string, ClusterNameRecord>> {
  const rows = await readClusterNameRecords(db, network, names)
  return new Map(
    rows.map(({ amount, ...row }) => [row.name, { ...row, amountWei: wordToBigInt(amount) }]),
  )
}

/** Type bytes of stored addresses that identify a chain family without further bytes: EVM and Solana. */
const ADDRESS_TYPE_CODES = Object.values(ADDRESS_AND_TX_ID_FORMS).map(({ code }) => code)
const byteSql = (code: number): string => `'\\x${code.toString(16).padStart(2, '0')}'::bytea`

/**
 * SQL: prefix that distinguishes the addresses of other chains: the text up to bech32's separator (BIP 173), or else
 * the first character.
 */
const CHAIN_PREFIX_SQL = `substring(convert_from(substring(address FROM 2), 'LATIN1') FROM '^[a-z]+1|^.')`

/** Maximum number of wallets of other chains that are read for each cluster, since a page has fifty clusters. */
const MAX_OTHER_WALLETS = 100

const readWalletSamples = prepareStatement<{ cluster: number; address: Buffer }>((l) => {
  const wallets = `FROM ${l.wallets} w WHERE w.network = ${l.network} AND w.cluster = asked.cluster AND NOT w.private`
  const ofTypes = ADDRESS_TYPE_CODES.map(
    (code) =>
      `(SELECT address ${wallets} AND address >= ${byteSql(code)} AND address < ${byteSql(code + 1)} LIMIT 1)`,
  )
  const others = `SELECT address ${wallets} AND address >= ${byteSql(Math.max(...ADDRESS_TYPE_CODES) + 1)} LIMIT ${MAX_OTHER_WALLETS}`
  const ofOthers = `(SELECT DISTINCT ON (${CHAIN_PREFIX_SQL}) address FROM (${others}) o)`
  return `SELECT asked.cluster, found.address FROM unnest($1::int8[]) AS asked(cluster)
    CROSS JOIN LATERAL (${[...ofTypes, ofOthers].join(' UNION ALL ')}) found`
})

/**
 * Stored addresses of public wallets, one for EVM, one for Solana and one for each other chain, by the serial of their
 * cluster. Of a cluster's wallets on other chains, only the first `MAX_OTHER_WALLETS` are read.
 */
export async function findWalletOfEachChain(
  db: Queryable,
  network: Network,
  clusters: readonly number[],
): Promise<Map<number, Buffer[]>> {
  const addresses = new Map<number, Buffer[]>()
  for (const { cluster, address } of await readWalletSamples(db, network, [...new Set(clusters)]))
    addresses.set(cluster, [...(addresses.get(cluster) ?? []), address])
  return addresses
}
