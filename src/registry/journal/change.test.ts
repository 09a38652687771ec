import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { communityRules as rules } from '../../../test/support/communityRules.js'
import { NAME } from '../primitives/nameRule.js'
import {
  actorOfChange,
  type ClusterChange,
  type CommunityChange,
  decodeChange,
  encodeChange,
  isClusterChangeKind,
  type SignedChange,
} from './change.js'

const address = fc
  .tuple(fc.constantFrom(1, 2), fc.uint8Array({ minLength: 32, maxLength: 32 }))
  .map(([type, raw]) => Buffer.of(type, ...raw.subarray(0, type === 1 ? 20 : 32)))
const name = fc.stringMatching(NAME)
const distinct = { selector: (item: { address: Buffer }) => item.address.toString('hex'), maxLength: 5 }

const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((raw) => Buffer.from(raw))

const clusterChange: fc.Arbitrary<ClusterChange> = fc.oneof(
  fc.record({ kind: fc.constant('create_cluster' as const), actor: address }),
  fc.record({
    kind: fc.constant('add_wallets' as const),
    actor: address,
    wallets: fc.uniqueArray(fc.record({ address, name, isPrivate: fc.option(fc.boolean()) }), distinct),
  }),
  fc.record({
    kind: fc.constant('rename_wallets' as const),
    actor: address,
    wallets: fc.uniqueArray(fc.record({ address, name }), distinct),
  }),
  fc.record({
    kind: fc.constant('remove_wallets' as const),
    actor: address,
    addresses: fc.uniqueArray(address, { selector: (bytes) => bytes.toString('hex'), maxLength: 5 }),
  }),
  fc.record({
    kind: fc.constant('verify_wallet' as const),
    actor: address,
    clusterId: word,
  }),
  fc.record({ kind: fc.constant('confirm_backup' as const), actor: address, address }),
)
const communityChange: fc.Arbitrary<CommunityChange> = fc.oneof(
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
    met: fc.option(word),
    isAssigned: fc.boolean(),
  }),
)
const change: fc.Arbitrary<SignedChange> = fc.oneof(clusterChange, communityChange)

describe('the body of a signed change', () => {
  it('is read as it was written, and names its actor', () => {
    fc.assert(
      fc.property(change, (given) => {
        const body = encodeChange(given)
        expect(decodeChange(given.kind, body)).toEqual(given)
        if (isClusterChangeKind(given.kind)) expect(actorOfChange(given.kind, body)).toEqual(given.actor)
      }),
    )
  })

  it('is stored in one form for good', () => {
    const actor = Buffer.of(1, ...Buffer.alloc(20, 0xaa))
    const other = Buffer.of(2, ...Buffer.alloc(32, 0xbb))
    const text = (given: ClusterChange) => encodeChange(given).toString()
    const [a, b] = [actor.toString('hex'), other.toString('hex')]
    expect(text({ kind: 'create_cluster', actor })).toBe(`{"actor":"${a}"}`)
    expect(text({ kind: 'add_wallets', actor, wallets: [{ address: other, name: 'cold', isPrivate: true }] })).toBe(
      `{"actor":"${a}","wallets":[["${b}","cold",true]]}`,
    )
    expect(text({ kind: 'rename_wallets', actor, wallets: [{ address: other, name: 'x' }] })).toBe(
      `{"actor":"${a}","wallets":[["${b}","x"]]}`,
    )
    expect(text({ kind: 'remove_wallets', actor, addresses: [other] })).toBe(`{"actor":"${a}","addresses":["${b}"]}`)
    expect(text({ kind: 'verify_wallet', actor, clusterId: Buffer.alloc(32, 1) })).toBe(
      `{"actor":"${a}","clusterId":"${'01'.repeat(32)}"}`,
    )
    expect(text({ kind: 'confirm_backup', actor, address: other })).toBe(`{"actor":"${a}","address":"${b}"}`)
  })

  it('names no address twice', () => {
    const actor = Buffer.of(1, ...Buffer.alloc(20, 0xaa))
    expect(() => encodeChange({ kind: 'remove_wallets', actor, addresses: [actor, actor] })).toThrow(RangeError)
    const wallets = ['a', 'b'].map((text) => ({ address: actor, name: text }))
    expect(() => encodeChange({ kind: 'rename_wallets', actor, wallets })).toThrow(RangeError)
  })

  it('of any other form stops the reader', () => {
    const kinds: SignedChange['kind'][] = [
      'create_cluster',
      'add_wallets',
      'rename_wallets',
      'remove_wallets',
      'verify_wallet',
      'configure_community',
      'register_community_name',
    ]
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.oneof(fc.json(), fc.string()), (kind, text) => {
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
})
