import type { LeaderContext } from '../../ops/context.js'
import type { Worker } from '../../ops/worker.js'
import { BID_OFFSETS, BID_OUTCOME } from '../../registry/journal/bid.js'
import type { Network } from '../../registry/primitives/network.js'
import { bidAmountSql } from '../journal/bidAmount.js'
import { readAnswerVersions } from '../journal/head.js'
import { type PartitionNames, prepareSingleRow, prepareStatement } from '../journal/partitions.js'
import { execute, prepared, type Queryable } from '../pg/rows.js'
import { MAX_DIRECTORY_ITEMS } from './directory.js'
import { nameHolderSql } from './heldNames.js'

/**
 * Brings the tables `ranking` and `referrals` up to date. Returns how many names there are, and the number of the
 * newest name's journal entry, 0 without names.
 */
const writeRanking = prepareStatement<{ names: number; seq: number }>(
  (l) => `WITH bids AS MATERIALIZED (
      SELECT ${nameHolderSql(l, 'n.cluster')} AS cluster, n.seq, ${bidAmountSql('j.body')} AS amount,
        CASE WHEN octet_length(j.body) >= ${BID_OFFSETS.lengthWithReferral} THEN substring(j.body FROM ${BID_OFFSETS.referral + 1} FOR 32) END AS referral
      FROM ${l.names} n
      JOIN ${l.journal} j ON j.network = ${l.network} AND j.seq = n.seq
        AND j.generation = (SELECT generation FROM journal_heads WHERE network = ${l.network})
      WHERE n.network = ${l.network} AND n.outcome = ${BID_OUTCOME.won}
    ), highest AS (
      SELECT cluster, sum(amount) AS amount, count(*) AS names, min(seq) AS oldest FROM bids
      GROUP BY cluster ORDER BY amount DESC, names DESC, cluster LIMIT ${MAX_DIRECTORY_ITEMS}
    ), ranked AS MATERIALIZED (
      SELECT row_number() OVER (ORDER BY h.amount DESC, h.names DESC, h.cluster) AS rank, h.cluster, n.name, h.names, h.amount
      FROM highest h JOIN ${l.names} n ON n.network = ${l.network} AND n.seq = h.oldest
    ), written AS (
      INSERT INTO ranking (network, rank, cluster, name, names, amount_wei)
      SELECT ${l.network}, d.* FROM ranked d LEFT JOIN ranking r ON r.network = ${l.network} AND r.rank = d.rank
      WHERE (r.cluster, r.name, r.names, r.amount_wei) IS DISTINCT FROM (d.cluster, d.name, d.names, d.amount)
      ON CONFLICT (network, rank) DO UPDATE SET cluster = excluded.cluster, name = excluded.name,
        names = excluded.names, amount_wei = excluded.amount_wei
    ), cut AS (
      DELETE FROM ranking WHERE network = ${l.network} AND rank > (SELECT count(*) FROM ranked)
    ), referred AS MATERIALIZED (
      SELECT referral, count(*) AS bids, sum(amount) AS amount FROM bids WHERE referral IS NOT NULL GROUP BY referral
    ), credited AS (
      INSERT INTO referrals (network, referral, bids, amount_wei)
      SELECT ${l.network}, d.* FROM referred d LEFT JOIN referrals r ON r.network = ${l.network} AND r.referral = d.referral
      WHERE (r.bids, r.amount_wei) IS DISTINCT FROM (d.bids, d.amount)
      ON CONFLICT (network, referral) DO UPDATE SET bids = excluded.bids, amount_wei = excluded.amount_wei
    ), uncredited AS (
      DELETE FROM referrals r WHERE network = ${l.network}
        AND NOT EXISTS (SELECT FROM referred d WHERE d.referral = r.referral)
    )
    SELECT count(*) AS names, coalesce(max(seq), 0) AS seq FROM bids`,
)

const STORE_NAME_COUNT = prepared(
  'UPDATE journal_heads SET names = $2, names_seq = $3 WHERE network = $1 AND (names, names_seq) <> ($2, $3)',
)

/**
 * Ranks the clusters, sums the winning bids by referral, and counts the names. It reads all names, which takes too long
 * for a request.
 */
export async function refreshRanking(db: Queryable, network: Network): Promise<void> {
  const [counted] = await writeRanking(db, network)
  await execute(db, network, STORE_NAME_COUNT, [counted!.names, counted!.seq])
}

/** Pause after a refresh, as a multiple of its duration, so that refreshes take at most a twentieth of the time. */
const PAUSE_FACTOR = 20

/**
 * Creates a worker that refreshes the ranking, at most once a minute. It does so if public data has changed since the
 * last refresh, and the pause after that refresh (`PAUSE_FACTOR`) is over.
 */
export function createRankingWorker({ pool, network }: LeaderContext): Worker {
  let rankedVersion: string | null = null
  // end of the pause, ms of the monotonic clock
  let nextMs = 0
  return {
    name: 'the ranking',
    fields: { network },
    pollMs: 60_000,
    async step() {
      const startedMs = performance.now()
      if (startedMs < nextMs) return 'idle'
      const { version } = await readAnswerVersions(pool, network)
      if (version === rankedVersion) return 'idle'
      try {
        await refreshRanking(pool, network)
        rankedVersion = version
      } finally {
        nextMs = performance.now() + PAUSE_FACTOR * (performance.now() - startedMs)
      }
      return 'idle'
    },
  }
}

/** A cluster in the ranking by the sum of its winning bids, then by their number, then by age. */
export interface RankedCluster {
  /** Place in the ranking, from 1. */
  rank: number
  /** Number of the cluster in the tables of its network (its serial). `clusterId` is its public id. */
  cluster: number
  clusterId: Buffer
  /** The oldest name that the cluster holds. */
  name: string
  names: number
  amountWei: bigint
  /** Sum of the winning bids whose referral is the cluster. */
  referredWei: bigint
}

/** Clusters of the ranking, as of the last `refreshRanking`. */
export const findRankedClusters = prepareStatement<RankedCluster, [offset: number, limit: number]>(
  (
    l,
  ) => `SELECT r.rank, r.cluster, c.id AS cluster_id, r.name, r.names, r.amount_wei, coalesce(f.amount_wei, 0) AS referred_wei
    FROM ranking r
    JOIN ${l.clusters} c ON c.network = ${l.network} AND c.serial = r.cluster
    LEFT JOIN referrals f ON f.network = ${l.network} AND f.referral = c.id
    WHERE r.network = ${l.network} AND r.rank > $1 AND r.rank <= $1 + $2 ORDER BY r.rank`,
)

/** The number of winning bids with one referrer, and the sum of their amounts, wei. */
export interface ReferredBids {
  bids: number
  amountWei: bigint
}

const readReferredBids = prepareSingleRow<ReferredBids>(
  ({ network }: PartitionNames) =>
    `SELECT bids, amount_wei FROM referrals WHERE network = ${network} AND referral = $1`,
)

/**
 * Winning bids with a referrer, as of the last `refreshRanking`.
 * @param referral bytes32 of the referrer in the hub's log
 */
export const findReferredBids = async (
  db: Queryable,
  network: Network,
  referral: Buffer,
): Promise<ReferredBids> =>
  (await readReferredBids(db, network, referral)) ?? { bids: 0, amountWei: 0n }
