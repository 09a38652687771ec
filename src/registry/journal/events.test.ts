import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressToWord } from '../primitives/address.js'
import { bigIntToWord, toHex } from '../primitives/bytes.js'
import { nameToWord } from '../primitives/name.js'
import { encodeChange } from './change.js'
import {
  encodeBidEffects,
  encodeChangeEffects,
  encodeCommunityEffects,
  NO_EFFECTS,
} from './effects.js'
import { actorText, clustersOfEvent, eventDataJson, ZERO_ADDRESS } from './eventForms.js'
import { decodeRegisteredName, eventId, type FeedRow, publicEvents } from './events.js'
import type { PublicEvent } from './eventTypes.js'
import { decodePayment, encodePayment } from './payment.js'

const ACTOR = Buffer.of(1, ...Buffer.alloc(20, 0xab))
const HOLDER = `0x${'ab'.repeat(20)}`
const id = (serial: number) => toHex(Buffer.alloc(32, serial))

function bidRow(
  effects: Parameters<typeof encodeBidEffects>[0],
  publicCount: number,
  amountWei = 5n,
): FeedRow {
  const from = addressToWord(ACTOR)
  const body = Buffer.concat([Buffer.alloc(32), from, bigIntToWord(amountWei), nameToWord('foo')])
  return {
    kind: 'bid',
    atMs: 1,
    publicFirst: 1,
    publicCount,
    actor: ACTOR,
    body,
    effects: encodeBidEffects(effects),
  }
}
const dataOf = (row: FeedRow) =>
  publicEvents(row).map((event) => ({
    type: event.type,
    data: JSON.parse(eventDataJson(event, id)),
  }))
const cluster_id = `0x${'07'.repeat(32)}`
const registered = { type: 'REGISTER_NAME', data: { name: 'foo', wei_amount: '5', cluster_id } }

describe('public events of a bid', () => {
  it('that won and created a cluster', () => {
    const row = bidRow({ outcome: 'won', cluster: 7, created: true, published: null }, 3)
    const data = {
      name: 'main',
      address: HOLDER,
      cluster_id,
      is_verified: true,
      is_backed_up: false,
    }
    expect(dataOf(row)).toEqual([
      { type: 'CREATE_CLUSTER', data: { cluster_id } },
      { type: 'ADD_WALLET', data },
      registered,
    ])
  })

  it('that won for a public wallet', () => {
    expect(
      dataOf(bidRow({ outcome: 'won', cluster: 7, created: false, published: null }, 1)),
    ).toEqual([registered])
  })

  it('that made a private wallet public', () => {
    const published = { walletName: 'cold', isBackedUp: true }
    expect(dataOf(bidRow({ outcome: 'won', cluster: 7, created: false, published }, 2))).toEqual([
      {
        type: 'ADD_WALLET',
        data: { name: 'cold', address: HOLDER, cluster_id, is_verified: true, is_backed_up: true },
      },
      registered,
    ])
  })

  it('that lost or was refused are empty', () => {
    expect(publicEvents(bidRow({ outcome: 'lost' }, 0))).toEqual([])
    expect(publicEvents(bidRow({ outcome: 'refused', reason: 'below_minimum' }, 0))).toEqual([])
  })

  it('carry the amount exactly, in decimal', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (wei) => {
        const row = bidRow({ outcome: 'won', cluster: 7, created: false, published: null }, 1, wei)
        expect(dataOf(row)[0]!.data.wei_amount).toBe(wei.toString())
      }),
    )
  })
})

describe('other rows and fields', () => {
  const refused = { ...bidRow({ outcome: 'lost' }, 0), actor: null, effects: NO_EFFECTS }

  it('a change of the minimum is no public event', () => {
    const minimum = { ...refused, kind: 'minimum' as const, body: bigIntToWord(1n) }
    expect(publicEvents(minimum)).toEqual([])
  })

  it.each(['create_cluster', 'configure_community', 'register_community_name'] as const)(
    '%s that was refused is no public event',
    (kind) => {
      expect(publicEvents({ ...refused, kind })).toEqual([])
    },
  )

  it('ids name network, generation and number', () => {
    expect(eventId('mainnet', 1, 42)).toBe('m-1-42')
    expect(eventId('testnet', 2, 1)).toBe('t-2-1')
  })

  it('an actor that may not be named is the zero address', () => {
    expect(actorText(ACTOR)).toBe(HOLDER)
    expect(actorText(null)).toBe(ZERO_ADDRESS)
    expect(ZERO_ADDRESS).toMatch(/^0x0{40}$/)
  })
})

describe('public events of a signed change', () => {
  const rowOf = (events: readonly PublicEvent[]): FeedRow => ({
    ...bidRow({ outcome: 'lost' }, events.length),
    kind: 'add_wallets',
    effects: encodeChangeEffects({ cluster: 7, events }),
  })
  const seen = { cluster: 7, name: 'cold', wallet: ACTOR }
  const address = HOLDER

  it('are those in its effects, with the fields that v1 shows', () => {
    const events: PublicEvent[] = [
      { type: 'ADD_WALLET', ...seen, isVerified: false, isBackedUp: true },
      { type: 'UPDATE_WALLET_NAME', ...seen, isVerified: true },
      { type: 'VERIFY_WALLET', ...seen, isVerified: true },
      { type: 'REMOVE_WALLET', cluster: 7, wallet: ACTOR },
      { type: 'BACKUP_WALLET', cluster: 7, wallet: ACTOR },
      { type: 'TRANSFER_NAME', cluster: 7, from: 8, name: 'foo' },
    ]
    expect(publicEvents(rowOf(events))).toEqual(events)
    expect(dataOf(rowOf(events)).map(({ data }) => data)).toEqual([
      { name: 'cold', address, cluster_id, is_verified: false, is_backed_up: true },
      { name: 'cold', address, cluster_id },
      ...[1, 2, 3].map(() => ({ address, cluster_id })),
      { name: 'foo', to: cluster_id, from_cluster_id: `0x${'08'.repeat(32)}` },
    ])
    expect(events.map(clustersOfEvent)).toEqual([[7], [7], [7], [7], [7], [7, 8]])
  })

  it('are empty for a configuration, which has effects nevertheless', () => {
    expect(publicEvents({ ...rowOf([]), kind: 'configure_community' })).toEqual([])
  })
})

describe('the name that an entry registered', () => {
  const wallet = Buffer.of(1, ...Buffer.alloc(20, 0xaa))
  const signer = Buffer.of(1, ...Buffer.alloc(20, 0xbb))
  const change = {
    actor: signer,
    community: 'foo',
    name: 'a',
    wallet,
    met: null,
    isAssigned: false,
  }
  const paid = (name: Buffer) =>
    encodePayment({
      tx: Buffer.alloc(32, 1),
      network: '1',
      payer: wallet,
      token: 'native',
      amount: 5n,
      recipient: '0x00000000000000000000000000000000000000a1',
      community: nameToWord('foo'),
      name,
      referral: null,
      blockMs: 1_000,
      met: null,
    })

  it('belongs to its wallet, whoever signed, or to its payer', () => {
    const body = encodeChange({ kind: 'register_community_name', ...change })
    expect(decodeRegisteredName('register_community_name', body)).toEqual({
      community: 'foo',
      name: 'a',
      wallet,
    })
    expect(decodeRegisteredName('pay_community_name', paid(nameToWord('a')))).toEqual({
      community: 'foo',
      name: 'a',
      wallet,
    })
  })

  it('is public, with the cluster in which its owner is public', () => {
    const rowOf = (
      kind: 'register_community_name' | 'pay_community_name',
      body: Buffer,
      cluster: number | null,
    ) => ({
      ...bidRow({ outcome: 'lost' }, 1),
      kind,
      body,
      effects: encodeCommunityEffects({ outcome: 'registered', cluster }),
    })
    const data = { community: 'foo', name: 'a', address: `0x${'aa'.repeat(20)}` }
    const signed = rowOf(
      'register_community_name',
      encodeChange({ kind: 'register_community_name', ...change }),
      7,
    )
    expect(dataOf(signed)).toEqual([
      { type: 'REGISTER_COMMUNITY_NAME', data: { ...data, cluster_id } },
    ])
    const bought = rowOf('pay_community_name', paid(nameToWord('a')), null)
    expect(dataOf(bought)).toEqual([
      { type: 'REGISTER_COMMUNITY_NAME', data: { ...data, cluster_id: null } },
    ])
    expect(publicEvents(signed).map(clustersOfEvent)).toEqual([[7]])
    expect(publicEvents(bought).map(clustersOfEvent)).toEqual([[]])
  })

  it.each([
    { outcome: 'lost' as const },
    { outcome: 'refused' as const, reason: 'underpaid' as const },
  ])('is null for a payment that was $outcome', (effects) => {
    const row = {
      ...bidRow({ outcome: 'lost' }, 0),
      kind: 'pay_community_name' as const,
      body: paid(nameToWord('a')),
    }
    expect(publicEvents({ ...row, effects: encodeCommunityEffects(effects) })).toEqual([])
  })

  it('throws where the words are no names or the body is of another kind', () => {
    const nameless = () => decodeRegisteredName('pay_community_name', paid(Buffer.alloc(32, 65)))
    expect(nameless).toThrow('a payment for no name has registered none')
    const elsewhere = encodePayment({
      ...decodePayment(paid(nameToWord('a'))).payment,
      community: Buffer.alloc(32, 65),
    })
    expect(() => decodeRegisteredName('pay_community_name', elsewhere)).toThrow(
      'a payment for no name has registered none',
    )
    expect(() => decodeRegisteredName('pay_community_name', paid(Buffer.alloc(32, 65)))).toThrow(
      RangeError,
    )
    const body = encodeChange({ kind: 'register_community_name', ...change })
    expect(() => decodeRegisteredName('pay_community_name', body)).toThrow(RangeError)
    expect(() => decodeRegisteredName('register_community_name', paid(nameToWord('a')))).toThrow(
      RangeError,
    )
  })
})
