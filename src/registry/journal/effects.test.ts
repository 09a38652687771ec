import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { name, publicEvent, tagged } from '../../../test/support/arbitraries.js'
import {
  type BidEffects,
  decodeBidEffects,
  decodeChangeEffects,
  decodeCommunityEffects,
  encodeBidEffects,
  encodeChangeEffects,
  encodeCommunityEffects,
} from './effects.js'
import type { PublicEvent } from './eventTypes.js'

type CommunityEffects = Parameters<typeof encodeCommunityEffects>[0]
type ChangeEffects = Parameters<typeof encodeChangeEffects>[0]

const outcome = tagged('outcome')
const bid: fc.Arbitrary<BidEffects> = fc.oneof(
  outcome('lost', {}),
  outcome('refused', { reason: fc.constantFrom('malformed_name', 'below_minimum') }),
  outcome('won', {
    cluster: fc.maxSafeNat(),
    created: fc.boolean(),
    published: fc.option(fc.record({ walletName: name, isBackedUp: fc.boolean() })),
  }),
)

const REASONS = [
  'malformed_name',
  'not_found',
  'not_active',
  'no_price',
  'underpaid',
  'requirements_not_met',
] as const
const registration: fc.Arbitrary<CommunityEffects> = fc.oneof(
  outcome('registered', {
    cluster: fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  }),
  outcome('lost', {}),
  outcome('refused', { reason: fc.constantFrom(...REASONS) }),
)

const cluster = fc.nat(2 ** 40)
const event = publicEvent(cluster)
const change: fc.Arbitrary<ChangeEffects> = fc.record({
  cluster,
  events: fc.array(event, { maxLength: 8 }),
})

/** Effects of a kind, with their encoder and decoder. */
const formOf = <T>(
  given: fc.Arbitrary<T>,
  encode: (effects: T) => Buffer,
  decode: (stored: Buffer) => T,
) => ({
  comesBack() {
    fc.assert(
      fc.property(given, (value) => {
        const bytes = encode(value)
        expect(bytes.length).toBeGreaterThan(0)
        expect(decode(bytes)).toEqual(value)
      }),
      { numRuns: 300 },
    )
  },
  /** Bytes similar to effects, or random bytes, are refused, or equal the encoding of what was decoded. */
  isTheOnly() {
    const near = given.chain((value) =>
      fc
        .tuple(fc.nat(60), fc.nat(255), fc.constantFrom('set', 'cut', 'add'))
        .map(([at, byte, how]) => {
          const bytes = Buffer.from(encode(value))
          if (how === 'cut') return bytes.subarray(0, at)
          if (how === 'add') return Buffer.concat([bytes, Buffer.of(byte)])
          bytes[at % bytes.length] = byte
          return bytes
        }),
    )
    const any = fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes))
    fc.assert(
      fc.property(fc.oneof(near, any), (bytes) => {
        let value: T
        try {
          value = decode(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
          return
        }
        expect(encode(value).equals(bytes)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  },
})

describe.each([
  { kind: 'a bid', form: formOf(bid, encodeBidEffects, decodeBidEffects) },
  {
    kind: 'a registration',
    form: formOf(registration, encodeCommunityEffects, decodeCommunityEffects),
  },
  { kind: 'a signed change', form: formOf(change, encodeChangeEffects, decodeChangeEffects) },
])('the effects of $kind', ({ form }) => {
  it('are decoded to the encoded effects, and are never empty', () => form.comesBack())
  it('are decoded only from the encoder’s bytes', () => form.isTheOnly())
})

describe('the bytes in existing journals', () => {
  it('of a bid', () => {
    const hex = (value: BidEffects) => encodeBidEffects(value).toString('hex')
    expect(hex({ outcome: 'lost' })).toBe('0102')
    expect(hex({ outcome: 'refused', reason: 'malformed_name' })).toBe('010301')
    expect(hex({ outcome: 'refused', reason: 'below_minimum' })).toBe('010302')
    expect(hex({ outcome: 'won', cluster: 258, created: true, published: null })).toBe(
      '010100000000000001020100',
    )
    const published = { walletName: 'main', isBackedUp: true }
    expect(hex({ outcome: 'won', cluster: 2 ** 32, created: false, published })).toBe(
      '01010000000100000000'.concat('00', '01', '046d61696e', '01'),
    )
  })

  it('of a signed change, by event', () => {
    const seen = { cluster: 2, name: 'a', wallet: Buffer.from('01ff', 'hex') }
    const cluster = '0000000000000002'
    const name = '0161'
    const wallet = '0201ff'
    const events: Record<string, PublicEvent> = {
      [`01${cluster}`]: { type: 'CREATE_CLUSTER', cluster: 2 },
      [`02${cluster}${name}${wallet}0100`]: {
        type: 'ADD_WALLET',
        ...seen,
        isVerified: true,
        isBackedUp: false,
      },
      [`03${cluster}${name}${wallet}00`]: {
        type: 'UPDATE_WALLET_NAME',
        ...seen,
        isVerified: false,
      },
      [`04${cluster}${name}${wallet}01`]: { type: 'VERIFY_WALLET', ...seen, isVerified: true },
      [`05${cluster}${wallet}`]: { type: 'REMOVE_WALLET', cluster: 2, wallet: seen.wallet },
      [`06${cluster}${wallet}`]: { type: 'BACKUP_WALLET', cluster: 2, wallet: seen.wallet },
      [`07${cluster}0000000000000003${name}`]: {
        type: 'TRANSFER_NAME',
        cluster: 2,
        from: 3,
        name: 'a',
      },
      [`08${cluster}${name}${'00'.repeat(31)}05`]: {
        type: 'REGISTER_NAME',
        cluster: 2,
        name: 'a',
        amountWei: 5n,
      },
      [`0901${cluster}${name}${name}${wallet}`]: {
        type: 'REGISTER_COMMUNITY_NAME',
        community: 'a',
        ...seen,
      },
    }
    const hex = (event: PublicEvent) =>
      encodeChangeEffects({ cluster: 2, events: [event] }).toString('hex')
    expect(Object.values(events).map(hex)).toEqual(
      Object.keys(events).map((bytes) => `01${cluster}${bytes}`),
    )
  })

  it('of a registration', () => {
    const hex = (given: CommunityEffects) => encodeCommunityEffects(given).toString('hex')
    expect(hex({ outcome: 'registered', cluster: 258 })).toBe('0101010000000000000102')
    expect(hex({ outcome: 'registered', cluster: null })).toBe('010100')
    expect(hex({ outcome: 'lost' })).toBe('0102')
    expect(REASONS.map((reason) => hex({ outcome: 'refused', reason }))).toEqual(
      [1, 2, 3, 4, 5, 6].map((code) => `01030${code}`),
    )
  })

  it.each([
    '',
    '01',
    '0100',
    '0101',
    '010102',
    '01010100000000000000',
    '010101ffffffffffffffff',
    '01010000',
    '010200',
    '0103',
    '010300',
    '010307',
    '01030101',
    '0104',
    '0202',
    '0002',
  ])('have the recorded form: "%s"', (text) => {
    expect(() => decodeCommunityEffects(Buffer.from(text, 'hex'))).toThrow(RangeError)
  })

  it('are refused with an event of an unknown type', () => {
    const unknownEvent = Buffer.from(`01${'00'.repeat(8)}63`, 'hex')
    expect(() => decodeChangeEffects(unknownEvent)).toThrow(RangeError)
  })
})
