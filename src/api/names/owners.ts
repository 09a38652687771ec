import { findOwnedCommunityNames } from '../../db/registry/communityNames.js'
import { findOwnedNames, type OwnedName } from '../../db/registry/owners.js'
import { NATIVE } from '../../registry/community/rules.js'
import { actorText } from '../../registry/journal/events.js'
import { lookupAddress } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { type Context, chainsOf } from '../http/context.js'
import { millisecondsText } from '../http/timestamps.js'

/**
 * Names of an address, oldest first, followed by its names below communities. The amount of a community name is what
 * was paid for it in ETH, else 0.
 */
export async function namesOwnedBy(context: Context, input: string) {
  const address = lookupAddress(input)
  if (!address) return []
  const [names, below] = await Promise.all([
    findOwnedNames(context.pool, context.network, address.bytes),
    findOwnedCommunityNames(context.pool, context.network, address.bytes),
  ])
  const ofCommunities = below.map(({ community, name, paid, atMs, by, clusterId }) => ({
    name: `${community}/${name}`,
    amountWei: paid && isEth(context, paid) ? paid.amount : 0n,
    createdMs: atMs,
    updatedMs: atMs,
    updatedBy: by,
    clusterId,
  }))
  return [...names, ...ofCommunities].map((owned) => record(context, address.text, owned))
}

const isEth = (context: Context, paid: { network: string; token: string }): boolean =>
  paid.token === NATIVE &&
  chainsOf(context).some(({ label, gasToken }) => label === paid.network && gasToken.symbol === 'ETH')

const record = (
  { network }: Context,
  owner: string,
  owned: Omit<OwnedName, 'clusterId'> & { clusterId: Buffer | null },
) => ({
  name: owned.name,
  owner,
  totalWeiAmount: owned.amountWei.toString(),
  createdAt: millisecondsText(owned.createdMs),
  updatedAt: millisecondsText(owned.updatedMs),
  updatedBy: actorText(owned.updatedBy),
  isTestnet: network === 'testnet',
  clusterId: owned.clusterId && toHex(owned.clusterId),
  expiresAt: null,
})
