import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BidEffects, decodeBidEffects, encodeBidEffects } from './effects.js'

const walletName = fc.stringMatching(/^[a-z0-9_-]{1,32}$/)
const effects: fc.Arbitrary<BidEffects> = fc.oneof(
  fc.constant({ outcome: 'lost' as const }),
  fc.record({ outcome: fc.constant('refused' as const), reason: fc.constantFrom('malformed_name', 'below_minimum') }),
  fc.record({
    outcome: fc.constant('won' as const),
    cluster: fc.maxSafeNat(),
    created: fc.boolean(),
    published: fc.option(fc.record({ walletName, isBackedUp: fc.boolean() })),
  }),
)

describe('effects of a bid', () => {
  it('come back from their bytes', () => {
    fc.assert(
      fc.property(effects, (value) => {
        expect(decodeBidEffects(encodeBidEffects(value))).toEqual(value)
      }),
      { numRuns: 300 },
    )
  })

  it('have the bytes that journals hold', () => {
    const hex = (value: BidEffects) => encodeBidEffects(value).toString('hex')
    expect(hex({ outcome: 'lost' })).toBe('02')
    expect(hex({ outcome: 'refused', reason: 'malformed_name' })).toBe('0301')
    expect(hex({ outcome: 'refused', reason: 'below_minimum' })).toBe('0302')
    expect(hex({ outcome: 'won', cluster: 258, created: true, published: null })).toBe('01010000000000000102')
    const published = { walletName: 'main', isBackedUp: true }
    expect(hex({ outcome: 'won', cluster: 2 ** 32, created: false, published })).toBe(
      '0106000000010000000004'.concat('6d61696e'),
    )
  })

  it('are read from no other bytes than the encoder makes', () => {
    const near = effects.chain((value) =>
      fc.tuple(fc.nat(60), fc.nat(255), fc.constantFrom('set', 'cut', 'add')).map(([at, byte, how]) => {
        const bytes = Buffer.from(encodeBidEffects(value))
        if (how === 'cut') return bytes.subarray(0, at)
        if (how === 'add') return Buffer.concat([bytes, Buffer.of(byte)])
        bytes[at % bytes.length] = byte
        return bytes
      }),
    )
    const any = fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes))
    fc.assert(
      fc.property(fc.oneof(near, any), (bytes) => {
        let value: BidEffects
        try {
          value = decodeBidEffects(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
          return
        }
        expect(encodeBidEffects(value).equals(bytes)).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })
})
