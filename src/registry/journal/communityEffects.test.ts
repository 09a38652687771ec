import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameToWord } from '../primitives/name.js'
import { encodeCommunityChange, encodePayment } from './communityChange.js'
import {
  type CommunityEffects,
  decodeCommunityEffects,
  encodeCommunityEffects,
  isRegistrationKind,
  registeredName,
} from './communityEffects.js'

const REASONS = ['malformed_name', 'not_found', 'not_active', 'no_price', 'underpaid', 'requirements_not_met'] as const
const effects: fc.Arbitrary<CommunityEffects> = fc.oneof(
  fc.record({
    outcome: fc.constant('registered' as const),
    cluster: fc.option(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
  }),
  fc.constant({ outcome: 'lost' as const }),
  fc.record({ outcome: fc.constant('refused' as const), reason: fc.constantFrom(...REASONS) }),
)

describe('the effects of a registration', () => {
  it('are read as they were written, and are never empty', () => {
    fc.assert(
      fc.property(effects, (given) => {
        const bytes = encodeCommunityEffects(given)
        expect(bytes.length).toBeGreaterThan(0)
        expect(decodeCommunityEffects(bytes)).toEqual(given)
      }),
    )
  })

  it('are stored in one form for good', () => {
    const hex = (given: CommunityEffects) => encodeCommunityEffects(given).toString('hex')
    expect(hex({ outcome: 'registered', cluster: 258 })).toBe('010000000000000102')
    expect(hex({ outcome: 'registered', cluster: null })).toBe('010000000000000000')
    expect(hex({ outcome: 'lost' })).toBe('02')
    expect(REASONS.map((reason) => hex({ outcome: 'refused', reason }))).toEqual(
      [1, 2, 3, 4, 5, 6].map((code) => `030${code}`),
    )
  })

  it('in any other bytes stop the reader', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 10 }), fc.constantFrom(0, 1, 2, 3, 4), (raw, first) => {
        const bytes = Buffer.of(first, ...raw)
        try {
          expect(encodeCommunityEffects(decodeCommunityEffects(bytes))).toEqual(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
    const wrong = [
      '',
      '00',
      '01',
      '0100000000000000',
      '01ffffffffffffffff',
      '0200',
      '03',
      '0300',
      '0307',
      '030101',
      '04',
    ]
    for (const text of wrong) expect(() => decodeCommunityEffects(Buffer.from(text, 'hex')), text).toThrow(RangeError)
  })
})

describe('the name that an entry registered', () => {
  const wallet = Buffer.of(1, ...Buffer.alloc(20, 0xaa))
  const signer = Buffer.of(1, ...Buffer.alloc(20, 0xbb))
  const change = { actor: signer, community: 'foo', name: 'a', wallet, met: null, isAssigned: false }
  const paid = (name: Buffer) =>
    encodePayment({
      ...{ tx: Buffer.alloc(32, 1), network: '1', payer: wallet, token: 'native', amount: 5n },
      ...{ recipient: '0x00000000000000000000000000000000000000a1', community: nameToWord('foo'), name },
      ...{ referral: null, blockMs: 1_000, met: null },
    })

  it("is its wallet's, whoever signed, or its payer's", () => {
    const body = encodeCommunityChange({ kind: 'register_community_name', ...change })
    expect(registeredName('register_community_name', body)).toMatchObject({ community: 'foo', name: 'a', wallet })
    expect(registeredName('pay_community_name', paid(nameToWord('a')))).toEqual({ community: 'foo', name: 'a', wallet })
  })

  it('is none where the words are no names or the body is of another kind', () => {
    expect(() => registeredName('pay_community_name', paid(Buffer.alloc(32, 65)))).toThrow(RangeError)
    const body = encodeCommunityChange({ kind: 'register_community_name', ...change })
    expect(() => registeredName('pay_community_name', body)).toThrow(RangeError)
    expect(() => registeredName('register_community_name', paid(nameToWord('a')))).toThrow(RangeError)
  })

  it('comes of two kinds of entries', () => {
    expect((['register_community_name', 'pay_community_name'] as const).every(isRegistrationKind)).toBe(true)
    expect((['bid', 'configure_community'] as const).some(isRegistrationKind)).toBe(false)
  })
})
