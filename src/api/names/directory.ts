import { findCommunityNameRecords } from '../../db/registry/communityNames.js'
import { findClusterNameRecords, findWalletOfEachChain } from '../../db/registry/directory.js'
import { findWalletsByNames } from '../../db/registry/lookups.js'
import { decodeWallet } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { type Context, chainsOfNetwork } from '../http/context.js'
import { isoTimestamp } from '../http/timestamps.js'
import { communityNameRecord } from './owners.js'

/**
 * Describes the names that somebody holds. Names without a holder are left out.
 * @param community community below which the names are; null for names of clusters
 * @param names last parts of the names, without the community
 */
export async function describeNames(
  context: Context,
  community: string | null,
  names: readonly string[],
) {
  const records = await (community === null
    ? clusterNameRecords(context, names)
    : recordsBelowCommunity(context, community, names))
  const clusters = records.flatMap(({ cluster }) => cluster ?? [])
  const chainIds = await walletChainIdsOfClusters(context, clusters)
  return records.map(({ name, owner, cluster, clusterId, ...one }) => ({
    name,
    owner: addressText(owner),
    clusterId: clusterId ? toHex(clusterId) : '',
    totalWeiAmount: String(one.amountWei),
    createdAt: isoTimestamp(one.createdMs),
    updatedAt: isoTimestamp(one.updatedMs),
    updatedBy: addressText(one.updatedBy),
    expiresAt: null,
    isTestnet: context.network === 'testnet',
    chainIds:
      (cluster && chainIds.get(cluster)) ?? chainIdsOfAddresses(context, owner ? [owner] : []),
  }))
}

/** Text of a stored address; empty for null, which stands for a private wallet. */
export const addressText = (stored: Buffer | null): string =>
  stored ? decodeWallet(stored).text : ''

async function clusterNameRecords({ pool, network }: Context, names: readonly string[]) {
  const fullNames = names.map((cluster) => ({ cluster, wallet: null }))
  const [records, owners] = await Promise.all([
    findClusterNameRecords(pool, network, names),
    findWalletsByNames(pool, network, fullNames),
  ])
  return names.flatMap((name, i) => {
    const record = records.get(name)
    return record ? [{ ...record, owner: owners[i]?.address ?? null }] : []
  })
}

async function recordsBelowCommunity(
  context: Context,
  community: string,
  names: readonly string[],
) {
  const { pool, network } = context
  const records = await findCommunityNameRecords(pool, network, community, names)
  return records.map((record) => ({
    ...communityNameRecord(context, record),
    owner: record.address,
    cluster: record.cluster,
  }))
}

/** Chains of the public wallets of clusters, by the cluster's serial. */
export async function walletChainIdsOfClusters(context: Context, clusters: readonly number[]) {
  const wallets = await findWalletOfEachChain(context.pool, context.network, clusters)
  return new Map(
    [...wallets].map(([cluster, addresses]) => [cluster, chainIdsOfAddresses(context, addresses)]),
  )
}

/** Matches the part of an address type that is not the chain: the script of Bitcoin, the format of XRPL. */
const ADDRESS_FORMAT_PATTERN = /-(?:p2\w+|classic)$/

/**
 * Chains of stored addresses, without repetition: the EIP-155 id of the hub for EVM addresses, else the chain's name,
 * such as `solana` or `bitcoin`.
 */
export function chainIdsOfAddresses(context: Context, addresses: readonly Buffer[]): string[] {
  const [hub] = chainsOfNetwork(context)
  const ids = addresses.map((address) => {
    const { type } = decodeWallet(address)
    return type === 'evm' ? String(hub?.chainId ?? type) : type.replace(ADDRESS_FORMAT_PATTERN, '')
  })
  return [...new Set(ids)].sort()
}
