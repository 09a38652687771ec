import fc from 'fast-check'
import type { CommunityRequirement, CommunityRules } from '../../src/registry/community/rules.js'
import { decodeAddress } from '../../src/registry/primitives/address.js'
import { name, address as stored } from './arbitraries.js'

export const EVM = '0x00000000000000000000000000000000000000a1'
export const TOKEN = '0x00000000000000000000000000000000000000b2'
export const MINT = 'So11111111111111111111111111111111111111112'

const isNobody = (bytes: Buffer) => bytes.subarray(1).every((byte) => byte === 0)
const text = stored.filter((bytes) => !isNobody(bytes)).map(decodeAddress)
/** Addresses of a kind of chain, mostly of few. */
const addressOn = (type: 'evm' | 'solana', ...few: string[]) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...few) },
    text.filter((one) => one.type === type).map((one) => one.text),
  )
const evm = addressOn('evm', EVM, TOKEN)
const solana = addressOn('solana', MINT)
/** A token of a network, an amount and a recipient of it. @param evmBits of an amount on an EVM chain */
const onChain = (evmBits: bigint) =>
  fc.constantFrom('1', '8453', 'solana').chain((network) => {
    const [address, bits] = network === 'solana' ? [solana, 64n] : [evm, evmBits]
    const amount = fc.bigInt(1n, 2n ** bits - 1n)
    return fc.record({ network: fc.constant(network), token: address, amount, recipient: address })
  })

const price = fc
  .tuple(onChain(128n), fc.boolean())
  .map(([asked, isNative]) => (isNative ? { ...asked, token: 'native' } : asked))
const requirement: fc.Arbitrary<CommunityRequirement> = fc.oneof(
  onChain(256n).map(({ network, token, amount }) => ({
    kind: 'token' as const,
    network,
    token,
    minimum: amount,
  })),
  fc.record({
    kind: fc.constant('allowlist'),
    addresses: fc.uniqueArray(fc.oneof(evm, solana), { minLength: 1, maxLength: 5 }),
  }),
  fc.record({ kind: fc.constant('cluster'), name }),
)
const prices = fc.uniqueArray(price, {
  selector: (one) => `${one.network} ${one.token}`,
  maxLength: 4,
})
/** Rules of a community, of every kind that the interface takes. */
export const communityRules: fc.Arbitrary<CommunityRules> = fc
  .record({
    prices,
    ownersOnly: fc.boolean(),
    startsAtMs: fc.option(fc.integer({ min: 0, max: Date.UTC(9999, 0) })),
    requirements: fc.array(requirement, { maxLength: 3 }),
  })
  .map((given) => ({ ...given, ownersOnly: given.ownersOnly && given.prices.length === 0 }))
