import { findOwnedNames } from '../../db/read/owners.js'
import { lookupAddress } from '../../registry/address.js'
import { toHex } from '../../registry/bytes.js'
import { actorText } from '../../registry/events.js'
import type { Network } from '../../registry/network.js'
import type { Context } from '../context.js'
import { millisecondsText } from './timestamps.js'

/** A name with its owner. */
export interface OwnerRecord {
  name: string
  owner: string
  totalWeiAmount: string
  createdAt: string
  updatedAt: string
  updatedBy: string
  isTestnet: boolean
  clusterId: string
  expiresAt: string | null
}

/** The names that an address owns, oldest first; none for an unknown one. */
export async function namesOwnedBy(context: Context, network: Network, input: string): Promise<OwnerRecord[]> {
  const address = lookupAddress(input)
  if (!address) return []
  const names = await findOwnedNames(context.pool, network, address.bytes)
  return names.map((owned) => ({
    name: owned.name,
    owner: address.text,
    totalWeiAmount: owned.amountWei.toString(),
    createdAt: millisecondsText(owned.createdMs),
    updatedAt: millisecondsText(owned.updatedMs),
    updatedBy: actorText(owned.updatedBy),
    isTestnet: network === 'testnet',
    clusterId: toHex(owned.clusterId),
    expiresAt: null,
  }))
}
