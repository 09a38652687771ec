import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { address, expectOneForm, name, tagged, word } from '../../../test/support/arbitraries.js'
import { communityRules as rules } from '../../../test/support/communityRules.js'
import {
  actorOfChange,
  type ClusterChange,
  type CommunityChange,
  decodeChange,
  encodeChange,
  isClusterChangeKind,
  type SignedChange,
} from './change.js'
import { decodeEntry, entryOfChange } from './decode.js'

const distinct = {
  selector: (item: { address: Buffer }) => item.address.toString('hex'),
  maxLength: 5,
}

const of = tagged('kind')
const clusterChange: fc.Arbitrary<ClusterChange> = fc.oneof(
  of('create_cluster', { actor: address }),
  of('add_wallets', {
    actor: address,
    wallets: fc.uniqueArray(
      fc.record({ address, name, isPrivate: fc.option(fc.boolean()) }),
      distinct,
    ),
  }),
  of('rename_wallets', {
    actor: address,
    wallets: fc.uniqueArray(fc.record({ address, name }), distinct),
  }),
  of('remove_wallets', {
    actor: address,
    addresses: fc.uniqueArray(address, {
      selector: (bytes) => bytes.toString('hex'),
      maxLength: 5,
    }),
  }),
  of('verify_wallet', { actor: address, clusterId: word }),
  of('confirm_backup', { actor: address, address }),
)
const registered = { actor: address, community: name, name, wallet: address, met: fc.option(word) }
const communityChange: fc.Arbitrary<CommunityChange> = fc.oneof(
  of('configure_community', { actor: fc.option(address), community: name, rules }),
  of('register_community_name', { ...registered, isAssigned: fc.boolean() }),
)
const change: fc.Arbitrary<SignedChange> = fc.oneof(clusterChange, communityChange)

describe('the body of a signed change', () => {
  it('is decoded to the written change, and contains its actor', () => {
    fc.assert(
      fc.property(change, (given) => {
        const body = encodeChange(given)
        expect(decodeChange(given.kind, body)).toEqual(given)
        const entry = entryOfChange(given, 1)
        expect(decodeEntry(entry)).toEqual(entry)
        if (isClusterChangeKind(given.kind))
          expect(actorOfChange(given.kind, body)).toEqual(given.actor)
      }),
    )
  })

  it('is stored in a fixed form', () => {
    const actor = Buffer.of(1, ...Buffer.alloc(20, 0xaa))
    const other = Buffer.of(2, ...Buffer.alloc(32, 0xbb))
    const text = (given: ClusterChange) => encodeChange(given).toString()
    const a = actor.toString('hex')
    const b = other.toString('hex')
    expect(text({ kind: 'create_cluster', actor })).toBe(`{"actor":"${a}"}`)
    expect(
      text({
        kind: 'add_wallets',
        actor,
        wallets: [{ address: other, name: 'cold', isPrivate: true }],
      }),
    ).toBe(`{"actor":"${a}","wallets":[["${b}","cold",true]]}`)
    expect(text({ kind: 'rename_wallets', actor, wallets: [{ address: other, name: 'x' }] })).toBe(
      `{"actor":"${a}","wallets":[["${b}","x"]]}`,
    )
    expect(text({ kind: 'remove_wallets', actor, addresses: [other] })).toBe(
      `{"actor":"${a}","addresses":["${b}"]}`,
    )
    expect(text({ kind: 'verify_wallet', actor, clusterId: Buffer.alloc(32, 1) })).toBe(
      `{"actor":"${a}","clusterId":"${'01'.repeat(32)}"}`,
    )
    expect(text({ kind: 'confirm_backup', actor, address: other })).toBe(
      `{"actor":"${a}","address":"${b}"}`,
    )
  })

  it('has no duplicate addresses', () => {
    const actor = Buffer.of(1, ...Buffer.alloc(20, 0xaa))
    expect(() =>
      encodeChange({ kind: 'remove_wallets', actor, addresses: [actor, actor] }),
    ).toThrow(RangeError)
    const wallets = ['a', 'b'].map((text) => ({ address: actor, name: text }))
    expect(() => encodeChange({ kind: 'rename_wallets', actor, wallets })).toThrow(RangeError)
  })

  it('of any other form throws', () => {
    expectOneForm(change, encodeChange, (body, { kind }) => decodeChange(kind, body))
  })
})
