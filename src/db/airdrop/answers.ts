import { storedAddressOfClaimAccount } from '../../registry/fold/community.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Airdrop as StoredAirdrop } from '../generated/client.js'
import { prepareSingleRow, prepareStatement } from '../journal/partitions.js'
import { nameOfCode } from '../pg/codes.js'
import type { DecodedRow, Queryable } from '../pg/rows.js'
import {
  AIRDROP_COLUMNS,
  AIRDROP_STATE,
  type AirdropWithoutClaimCounts,
  type RequiredAirdropFields,
} from './airdrops.js'

const readAirdropOfCommunity = prepareSingleRow<DecodedRow<StoredAirdrop>>(
  (l) => `SELECT ${AIRDROP_COLUMNS} FROM airdrops WHERE network = ${l.network} AND community = $1`,
)

/** The airdrop of a community, or null. Each request about a claim reads it, so its claims are not counted. */
export async function findAirdropWithoutClaimCounts(
  db: Queryable,
  network: Network,
  community: string,
): Promise<AirdropWithoutClaimCounts | null> {
  const row = await readAirdropOfCommunity(db, network, community)
  return row ? { ...row, state: nameOfCode(AIRDROP_STATE, row.state) } : null
}

type ClaimableAirdrop = Pick<AirdropWithoutClaimCounts, 'community' | 'label' | 'total'> &
  RequiredAirdropFields<'distributor' | 'token' | 'endsAtS'>

/** Airdrops from which claims are possible now, newest first. */
export const findClaimableAirdrops = prepareStatement<
  ClaimableAirdrop,
  [nowS: number, limit: number]
>(
  (l) => `SELECT community, label, total, distributor, token, ends_at_s FROM airdrops
    WHERE network = ${l.network} AND state = ${AIRDROP_STATE.open} AND ends_at_s > $1
    ORDER BY airdrop DESC LIMIT $2`,
)

interface WalletAllocationRow {
  /** Stored address. */
  address: Buffer
  isPrivate: boolean
  /**
   * Number of the allocation's row in the airdrop's file, from 0. Null, like the next fields, without an allocation.
   */
  index: number | null
  /** Number of the allocation's leaf among the tree's nodes (src/registry/airdrop/tree.ts). */
  position: number
  amount: bigint
  /** Transaction of the claim, if one was seen on chain. */
  tx: Buffer | null
  isConfirmed: boolean
}

/** A verified wallet of the viewer's cluster. `allocation` is null for a wallet without one in the airdrop. */
export type WalletWithAllocation = Awaited<ReturnType<typeof findClusterAllocations>>[number]
export type AllocationWithClaim = NonNullable<WalletWithAllocation['allocation']>

// Only verified wallets are proven to have one owner. A wallet is verified in at most one cluster.
const readAllocationsOfCluster = prepareStatement<WalletAllocationRow>(
  (l) => `SELECT w.address, w.private AS is_private, a.index, a.position, a.amount, c.tx_hash AS tx,
      c.confirmed AS is_confirmed
    FROM ${l.wallets} me
    JOIN ${l.wallets} w ON w.network = ${l.network} AND w.cluster = me.cluster AND w.verified
    LEFT JOIN airdrop_allocations a ON a.network = ${l.network} AND a.airdrop = $2 AND a.account = w.address
    LEFT JOIN airdrop_claims c ON c.network = ${l.network} AND c.airdrop = $2 AND c.index = a.index
    WHERE me.network = ${l.network} AND me.address = $1 AND me.verified
    ORDER BY w.created_seq, w.address`,
)

/**
 * Wallets of the cluster in which `viewer` (a stored address) is verified, oldest first, each with its allocation in
 * the airdrop or null. Empty without a cluster.
 */
export async function findClusterAllocations(
  db: Queryable,
  network: Network,
  airdrop: number,
  viewer: Buffer,
) {
  const rows = await readAllocationsOfCluster(db, network, viewer, airdrop)
  return rows.map(({ address, isPrivate, index, position, amount, tx, isConfirmed }) => ({
    address,
    isPrivate,
    allocation:
      index === null ? null : { index, position, amount, claim: tx && { tx, isConfirmed } },
  }))
}

const readClaimedAccounts = prepareStatement<{ account: Buffer }>(
  (l) => `SELECT a.account FROM ${l.clusters} k
    JOIN ${l.wallets} w ON w.network = ${l.network} AND w.cluster = k.serial AND w.verified
    JOIN airdrops d ON d.network = ${l.network} AND d.community = $1
    JOIN airdrop_allocations a ON a.network = d.network AND a.airdrop = d.airdrop AND a.account = w.address
    JOIN airdrop_claims c ON c.network = d.network AND c.airdrop = d.airdrop AND c.index = a.index AND c.confirmed
    WHERE k.network = ${l.network} AND k.id = $2
    ORDER BY w.address <> $3, w.created_seq, w.address`,
)
const readUsedClaims = prepareStatement<{ claim: Buffer }>(
  (l) => `SELECT claim FROM ${l.community_names}
    WHERE network = ${l.network} AND community = $1 AND claim = ANY($2::bytea[])`,
)

/**
 * Finds a wallet (stored address) that is verified in a cluster and whose allocation was claimed in a confirmed block.
 * Prefers a wallet whose claim no community name has used, and among several such wallets the caller. Null where no
 * wallet of the cluster has claimed.
 */
export async function findClaimedAccount(
  db: Queryable,
  {
    network,
    community,
    clusterId,
    caller,
  }: { network: Network; community: string; clusterId: Buffer; caller: Buffer },
): Promise<Buffer | null> {
  const claimed = await readClaimedAccounts(db, network, community, clusterId, caller)
  const claims = claimed.map(({ account }) => storedAddressOfClaimAccount(account))
  const used = await readUsedClaims(db, network, community, claims)
  const free = claimed.find((_, i) => !used.some(({ claim }) => claim.equals(claims[i]!)))
  return (free ?? claimed[0])?.account ?? null
}
