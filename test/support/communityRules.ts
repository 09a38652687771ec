import fc from 'fast-check'
import type { CommunityRequirement, CommunityRules } from '../../src/registry/community/rules.js'
import { NAME } from '../../src/registry/primitives/nameRule.js'

const EVM = '0x00000000000000000000000000000000000000a1'
const TOKEN = '0x00000000000000000000000000000000000000b2'
const MINT = 'So11111111111111111111111111111111111111112'

const name = fc.stringMatching(NAME)
const amount = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n })

const price = fc.oneof(
  fc.record({
    network: fc.constantFrom('1', '8453'),
    token: fc.constantFrom('native', TOKEN),
    amount,
    recipient: fc.constant(EVM),
  }),
  fc.record({
    network: fc.constant('solana'),
    token: fc.constantFrom('native', MINT),
    amount,
    recipient: fc.constant(MINT),
  }),
)
const requirement: fc.Arbitrary<CommunityRequirement> = fc.oneof(
  fc.record({
    kind: fc.constant('token' as const),
    network: fc.constantFrom('1', '8453'),
    token: fc.constant(TOKEN),
    minimum: amount,
  }),
  fc.record({
    kind: fc.constant('allowlist' as const),
    addresses: fc.uniqueArray(fc.constantFrom(EVM, TOKEN, MINT), { minLength: 1 }),
  }),
  fc.record({ kind: fc.constant('cluster' as const), name }),
)
const prices = fc.uniqueArray(price, { selector: (one) => `${one.network} ${one.token}`, maxLength: 4 })
/** Rules of a community, of every kind that the interface takes. */
export const communityRules: fc.Arbitrary<CommunityRules> = fc
  .record({
    prices,
    ownersOnly: fc.boolean(),
    startsAtMs: fc.option(fc.integer({ min: 0, max: Date.UTC(9999, 0) })),
    requirements: fc.array(requirement, { maxLength: 3 }),
  })
  .map((given) => ({ ...given, ownersOnly: given.ownersOnly && given.prices.length === 0 }))
