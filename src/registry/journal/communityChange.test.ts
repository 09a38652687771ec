import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { communityRules as rules } from '../../../test/support/communityRules.js'
import type { CommunityRules } from '../community/rules.js'
import { NAME } from '../primitives/nameRule.js'
import { type CommunityChange, decodeChange, encodeChange } from './change.js'

const EVM = '0x00000000000000000000000000000000000000a1'
const MINT = 'So11111111111111111111111111111111111111112'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map((raw) => Buffer.from(raw))
const address = fc.oneof(
  bytes(20).map((raw) => Buffer.of(1, ...raw)),
  bytes(32).map((raw) => Buffer.of(2, ...raw)),
)
const name = fc.stringMatching(NAME)

const change: fc.Arbitrary<CommunityChange> = fc.oneof(
  fc.record({
    kind: fc.constant('configure_community' as const),
    actor: fc.option(address),
    community: name,
    rules,
  }),
  fc.record({
    kind: fc.constant('register_community_name' as const),
    actor: address,
    community: name,
    name,
    wallet: address,
    met: fc.option(bytes(32)),
    isAssigned: fc.boolean(),
  }),
)
const KINDS = ['configure_community', 'register_community_name'] as const

describe("the body of a community's change", () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(change, (given) => {
        const body = encodeChange(given)
        expect(decodeChange(given.kind, body)).toEqual(given)
      }),
    )
  })

  it('is stored in one form for good', () => {
    const actor = Buffer.of(1, ...Buffer.alloc(20, 0xaa))
    const wallet = Buffer.of(2, ...Buffer.alloc(32, 0xbb))
    const [a, w] = [actor.toString('hex'), wallet.toString('hex')]
    const set: CommunityRules = {
      prices: [{ network: '1', token: 'native', amount: 5n, recipient: EVM }],
      ownersOnly: false,
      startsAtMs: 1_000,
      requirements: [{ kind: 'allowlist', addresses: [MINT] }],
    }
    const text = (given: CommunityChange) => encodeChange(given).toString()
    expect(text({ kind: 'configure_community', actor: null, community: 'foo', rules: set })).toBe(
      `{"actor":null,"community":"foo","rules":{"prices":[{"network":"1","token":"native","amount":"5","recipient":"${EVM}"}],` +
        `"ownersOnly":false,"startsAt":"1970-01-01T00:00:01.000Z","requirements":[{"kind":"allowlist","addresses":["${MINT}"]}]}}`,
    )
    const names = { actor, community: 'foo', name: 'a', wallet, met: null, isAssigned: false }
    expect(text({ kind: 'register_community_name', ...names })).toBe(
      `{"actor":"${a}","community":"foo","name":"a","wallet":"${w}","met":null,"isAssigned":false}`,
    )
  })

  it('of any other form stops the reader', () => {
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), fc.oneof(fc.json(), fc.string()), (kind, text) => {
        expect(() => decodeChange(kind, Buffer.from(text))).toThrow(RangeError)
      }),
    )
    fc.assert(
      fc.property(change, fc.nat(), fc.integer({ min: 1, max: 255 }), (given, at, flip) => {
        const body = encodeChange(given)
        body[at % body.length]! ^= flip
        try {
          const read = decodeChange(given.kind, body)
          expect(decodeChange(given.kind, encodeChange(read))).toEqual(read)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })

  it('that says more, says less or says what the rules forbid stops the reader', () => {
    const alice = `01${'aa'.repeat(20)}`
    const registration = { actor: alice, community: 'foo', name: 'a', wallet: alice, met: null, isAssigned: false }
    const free = { prices: [], ownersOnly: false, startsAt: null, requirements: [] }
    const asks = { network: '1', token: 'native', amount: '5', recipient: EVM }
    const bad = (kind: CommunityChange['kind'], body: object) =>
      expect(() => decodeChange(kind, Buffer.from(JSON.stringify(body))), JSON.stringify(body)).toThrow(RangeError)
    for (const other of [
      { ...registration, more: 1 },
      { ...registration, community: 'Foo' },
      { ...registration, community: 'foo/' },
      { ...registration, name: 'a/' },
      { ...registration, name: '' },
      { ...registration, met: 'ab' },
      { ...registration, met: '' },
      { ...registration, isAssigned: 0 },
      { ...registration, actor: null },
      { ...registration, actor: alice.toUpperCase() },
      // wallets of other chains can't sign in, and get no names
      { ...registration, wallet: `03${Buffer.from('cosmos1').toString('hex')}` },
    ])
      bad('register_community_name', other)
    bad('configure_community', registration)
    bad('register_community_name', { actor: alice, community: 'foo', rules: free })
    for (const rules of [
      { ...free, ownersOnly: true, prices: [asks] },
      { ...free, prices: [asks, asks] },
      { ...free, prices: [{ ...asks, amount: '05' }] },
      { ...free, prices: [{ ...asks, amount: '0' }] },
      { ...free, startsAt: '1970-01-01' },
      { ...free, more: [] },
      { prices: [] },
    ])
      bad('configure_community', { actor: null, community: 'foo', rules })
  })
})
