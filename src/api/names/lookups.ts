import {
  type AddressLookupResult,
  findNamesOfAddresses,
  findWalletsByNames,
} from '../../db/registry/lookups.js'
import { mapWithoutBlocking } from '../../ops/turns.js'
import { decodeWallet, parseWallet, type Wallet } from '../../registry/primitives/address.js'
import { type FullName, parseFullName } from '../../registry/primitives/name.js'
import type { Context } from '../http/context.js'

export type NameOfAddress = ReturnType<typeof record | typeof unreadable>

/** Name of an address. A text that is not an address, or has a wrong checksum, has no name. */
export async function nameOfAddress(context: Context, input: string): Promise<NameOfAddress> {
  const address = parseWallet(input)
  if (typeof address === 'string') return unreadable(input, address)
  return record(address, await context.lookups[context.network].nameOf(address.bytes))
}

export async function namesOfAddresses(
  context: Context,
  inputs: readonly string[],
): Promise<NameOfAddress[]> {
  const { pool, network, turn } = context
  const parsed = await mapWithoutBlocking(turn, inputs, parseWallet)
  const readable = parsed.filter((address): address is Wallet => typeof address !== 'string')
  const addresses = readable.map(({ bytes }) => bytes)
  const hits = await findNamesOfAddresses(pool, network, addresses)
  let next = 0
  return parsed.map((address, i) =>
    typeof address === 'string'
      ? unreadable(inputs[i]!, address)
      : record(address, hits[next++] ?? null),
  )
}

const record = ({ text, type }: Wallet, hit: AddressLookupResult | null) => ({
  address: text,
  type,
  hit,
})

/** Record of an unreadable input. An address with a wrong checksum is still known to be an EVM address. */
const unreadable = (input: string, problem: 'bad_checksum' | 'unsupported_address') => ({
  address: input,
  type: problem === 'bad_checksum' ? ('evm' as const) : null,
  hit: null,
})

/** Wallet that a name resolves to. */
export type AddressOfName = NonNullable<Awaited<ReturnType<typeof addressesOfNames>>[number]>

/** Addresses of names, in order. A text that is not a name, or resolves to nothing, is left out. */
export async function resolveNameTexts(context: Context, inputs: readonly string[]) {
  const asked = inputs.flatMap((input) => {
    const name = parseFullName(input)
    return name ? [{ input, name }] : []
  })
  const records = await addressesOfNames(
    context,
    asked.map(({ name }) => name),
  )
  return asked.flatMap(({ input }, i) => (records[i] ? [{ input, record: records[i] }] : []))
}

/** Addresses of names, in order; null for a name that resolves to no public wallet. */
export async function addressesOfNames(context: Context, names: readonly FullName[]) {
  const { pool, network, lookups } = context
  const hits =
    names.length === 1
      ? [await lookups[network].walletOf(names[0]!)]
      : await findWalletsByNames(pool, network, names)
  return mapWithoutBlocking(context.turn, hits, (hit, i) => {
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
