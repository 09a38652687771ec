import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NAME } from '../primitives/name.js'
import { requirementsHash } from './requirements.js'
import { type CommunityRequirement, type CommunityRules, parseCommunityRules } from './rules.js'

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
const rules: fc.Arbitrary<CommunityRules> = fc
  .record({
    prices,
    ownersOnly: fc.boolean(),
    startsAtMs: fc.option(fc.integer({ min: 0, max: Date.UTC(9999, 0) })),
    requirements: fc.array(requirement, { maxLength: 3 }),
  })
  .map((given) => ({ ...given, ownersOnly: given.ownersOnly && given.prices.length === 0 }))

describe('the hash of requirements', () => {
  const hashOf = (given: CommunityRules) => requirementsHash(given.requirements).toString('hex')

  it('depends on what is asked, and on nothing else of the rules', () => {
    fc.assert(
      fc.property(rules, rules, (a, b) => {
        expect(requirementsHash(a.requirements)).toHaveLength(32)
        expect(hashOf({ ...b, requirements: a.requirements })).toBe(hashOf(a))
        const isSame = JSON.stringify(plain(a)) === JSON.stringify(plain(b))
        expect(hashOf(a) === hashOf(b)).toBe(isSame)
      }),
    )
  })

  it('is the same however the rules were written', () => {
    const read = (requirements: unknown) => {
      const parsed = parseCommunityRules({ requirements }, { isEnabled: () => true, takesPayments: () => true })
      if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems))
      return hashOf(parsed)
    }
    const upper = `0x${TOKEN.slice(2).toUpperCase()}`
    expect(read([{ kind: 'token', network: '1', token: upper, minimum: '5' }])).toBe(
      read([{ minimum: '5', token: TOKEN, network: '1', kind: 'token' }]),
    )
    expect(read([{ kind: 'cluster', name: 'FooBar/' }])).toBe(read([{ kind: 'cluster', name: 'foobar' }]))
    expect(read([{ kind: 'allowlist', addresses: [EVM, EVM] }])).toBe(read([{ kind: 'allowlist', addresses: [EVM] }]))
  })

  it('of each part of what is asked is another', () => {
    const token = { kind: 'token', network: '1', token: TOKEN, minimum: 5n } as const
    const all: CommunityRequirement[][] = [
      [],
      [token],
      [{ ...token, network: '8453' }],
      [{ ...token, token: EVM }],
      [{ ...token, minimum: 6n }],
      [token, token],
      [{ kind: 'allowlist', addresses: [EVM] }],
      [{ kind: 'allowlist', addresses: [EVM, TOKEN] }],
      [{ kind: 'cluster', name: 'foo' }],
      [{ kind: 'cluster', name: 'bar' }],
    ]
    expect(new Set(all.map((one) => requirementsHash(one).toString('hex'))).size).toBe(all.length)
  })
})

const plain = ({ requirements }: CommunityRules) =>
  requirements.map((one) =>
    one.kind === 'token'
      ? [one.kind, one.network, one.token, String(one.minimum)]
      : [one.kind, one.kind === 'cluster' ? one.name : one.addresses],
  )
