import { BID_OFFSETS, BID_OUTCOME } from '../../registry/journal/bid.js'
import { wordToBigInt } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { journalEntrySql, prepareSingleValue, prepareStatement } from '../journal/partitions.js'
import type { Queryable } from '../pg/rows.js'
import { serialsOfHeldNamesSql } from './heldNames.js'
import { publicWalletSql } from './publicWallets.js'

/** A name of the cluster in which an address is verified. Times are Unix ms. */
export interface OwnedName {
  name: string
  clusterId: Buffer
  /** Name of the address in the cluster. */
  walletName: string
  /** Amount of the winning bid. */
  amountWei: bigint
  /** Hash of the winning bid's transaction on the hub, 32 bytes. */
  tx: Buffer
  createdMs: number
  updatedMs: number
  /** Stored address of the actor of the newest change. Null where the actor is private. */
  updatedBy: Buffer | null
}

const readOwnedNameRows = prepareStatement<Omit<OwnedName, 'amountWei'> & { amount: Buffer }>(
  (
    l,
  ) => `SELECT n.name, c.id AS cluster_id, w.name AS wallet_name, substring(created.body FROM ${BID_OFFSETS.amount + 1} FOR 32) AS amount,
      substring(created.body FROM ${BID_OFFSETS.txHash + 1} FOR 32) AS tx,
      created.at_ms AS created_ms, updated.at_ms AS updated_ms, updated.actor AS updated_by
    FROM (
      SELECT cluster, name FROM (${publicWalletSql(l, '$1')}) p WHERE verified
      UNION ALL
      SELECT cluster, name FROM ${l.wallets} WHERE network = ${l.network} AND address = $4::bytea AND verified AND private AND $1 = $4
    ) w
    JOIN journal_heads h ON h.network = ${l.network}
    JOIN ${l.clusters} c ON c.network = ${l.network} AND c.serial = w.cluster
    CROSS JOIN LATERAL (
      SELECT n.* FROM (${serialsOfHeldNamesSql(l, 'w.cluster')}) held CROSS JOIN LATERAL (
        SELECT name, seq, updated_seq FROM ${l.names}
        WHERE network = ${l.network} AND cluster = held.cluster AND outcome = ${BID_OUTCOME.won} AND seq > $2 ORDER BY seq LIMIT $3
      ) n ORDER BY n.seq LIMIT $3
    ) n
    CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'n.seq')}) created
    CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'n.updated_seq')}) updated
    ORDER BY n.seq`,
)

/** Request for a page of a list in the order of the journal: at most `limit` rows. */
export interface JournalPageRequest {
  /** Sequence number after which the page begins. */
  after: number
  limit: number
}

/**
 * A page of the names of the cluster in which an address is verified, oldest first. A private verification is found
 * only if the address is `viewer`.
 */
export async function findOwnedNames(
  db: Queryable,
  network: Network,
  address: Buffer,
  { after, limit }: JournalPageRequest,
  viewer: Buffer | null = null,
): Promise<OwnedName[]> {
  const rows = await readOwnedNameRows(db, network, address, after, limit, viewer)
  return rows.map(({ amount, ...name }) => ({ amountWei: wordToBigInt(amount), ...name }))
}

const readWinningBidRows = prepareStatement<{ name: string; body: Buffer }>(
  (l) => `SELECT n.name, created.body FROM journal_heads h
    CROSS JOIN unnest($1::text[]) AS asked(name)
    JOIN ${l.names} n ON n.network = ${l.network} AND n.name = asked.name AND n.outcome = ${BID_OUTCOME.won}
    CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'n.seq')}) created
    WHERE h.network = ${l.network}`,
)

/** Bodies of the winning bids of names, by name. Names that nobody holds are missing. */
export async function findWinningBids(
  db: Queryable,
  network: Network,
  names: readonly string[],
): Promise<Map<string, Buffer>> {
  if (names.length === 0) return new Map()
  const rows = await readWinningBidRows(db, network, names)
  return new Map(rows.map(({ name, body }) => [name, body]))
}

/**
 * Number of the journal entry that registered the name `cluster`, or the name `wallet` below the community `cluster`.
 * Null where nobody holds it.
 */
export const findRegistrationSeq = prepareSingleValue<
  number,
  [cluster: string, wallet: string | null]
>(
  (l) => `SELECT seq FROM ${l.names}
      WHERE network = ${l.network} AND name = $1 AND outcome = ${BID_OUTCOME.won} AND $2::text IS NULL
    UNION ALL SELECT seq FROM ${l.community_names} WHERE network = ${l.network} AND community = $1 AND name = $2`,
)
