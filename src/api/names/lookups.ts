import { type AddressHit, findByAddress, findByAddresses, findByNames } from '../../db/registry/lookups.js'
import { decodeWallet, parseWallet, type Wallet } from '../../registry/primitives/address.js'
import type { FullName } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Context } from '../http/context.js'

/** What an address resolves to. */
export interface NameRecord {
  /** As it is answered: EVM in lower case; the input itself where it is no address. */
  address: string
  /** null where the form is none we know. */
  type: Wallet['type'] | null
  /** null: no public entry has this address. */
  hit: AddressHit | null
}

/** The public name of an address. What is no address, or has a wrong checksum, is unknown. */
export async function nameOfAddress(context: Context, network: Network, input: string): Promise<NameRecord> {
  const address = parseWallet(input)
  if (typeof address === 'string') return unreadable(input, address)
  return record(address, await findByAddress(context.pool, network, address.bytes))
}

/** The public names of addresses, one a given address, in its order. */
export async function namesOfAddresses(
  context: Context,
  network: Network,
  inputs: readonly string[],
): Promise<NameRecord[]> {
  const parsed = inputs.map(parseWallet)
  const readable = parsed.filter((address): address is Wallet => typeof address !== 'string')
  const hits = await findByAddresses(
    context.pool,
    network,
    readable.map((address) => address.bytes),
  )
  let next = 0
  return parsed.map((address, i) =>
    typeof address === 'string' ? unreadable(inputs[i]!, address) : record(address, hits[next++] ?? null),
  )
}

const record = (address: Wallet, hit: AddressHit | null): NameRecord => ({
  address: address.text,
  type: address.type,
  hit,
})

/** An EVM address with a wrong checksum is an EVM address that nobody has. */
const unreadable = (input: string, problem: 'bad_checksum' | 'unsupported_address'): NameRecord => ({
  address: input,
  type: problem === 'bad_checksum' ? 'evm' : null,
  hit: null,
})

/** The wallet that a name resolves to. */
export interface AddressRecord {
  address: string
  type: Wallet['type']
  clusterName: string
  walletName: string
  isVerified: boolean
}

/** The wallets that names resolve to in public, null for a name that resolves to none. In the order given. */
export async function addressesOfNames(
  context: Context,
  network: Network,
  names: readonly FullName[],
): Promise<(AddressRecord | null)[]> {
  const hits = await findByNames(context.pool, network, names)
  return hits.map((hit, i) => {
    if (!hit) return null
    const { text, type } = decodeWallet(hit.address)
    return {
      address: text,
      type,
      clusterName: names[i]!.cluster,
      walletName: hit.walletName,
      isVerified: hit.isVerified,
    }
  })
}
