import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { address, bytesOf, expectOneForm } from '../../../test/support/arbitraries.js'
import { EVM, MINT, TOKEN } from '../../../test/support/communityRules.js'
import { nameToWord } from '../primitives/name.js'
import { type CommunityPaymentBody, decodePayment, encodePayment } from './payment.js'

const payment: fc.Arbitrary<CommunityPaymentBody> = fc.record({
  tx: fc.oneof(bytesOf(32), bytesOf(64)),
  network: fc.constantFrom('1', '8453', 'solana'),
  payer: address,
  token: fc.constantFrom('native', TOKEN, MINT),
  amount: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  recipient: fc.constantFrom(EVM, MINT),
  community: bytesOf(32),
  name: bytesOf(32),
  referral: fc.option(bytesOf(32)),
  blockMs: fc.integer({ min: 0, max: 2 ** 42 }),
  met: fc.option(bytesOf(32)),
})

describe("a payment's body", () => {
  it('is decoded to the encoded payment', () => {
    fc.assert(
      fc.property(payment, (given) => {
        expect(decodePayment(encodePayment(given)).payment).toEqual(given)
      }),
    )
  })

  it('has the names in its words, or null', () => {
    const [sample] = fc.sample(payment, 1)
    const words = { community: nameToWord('foo'), name: Buffer.alloc(32, 65) }
    const read = decodePayment(encodePayment({ ...sample!, ...words }))
    expect(read).toMatchObject({ kind: 'pay_community_name', community: 'foo', name: null })
  })

  it('of any other form throws', () => {
    expectOneForm(payment, encodePayment, (body) => decodePayment(body).payment)
  })

  it('with words of another length, or a malformed amount, throws', () => {
    fc.assert(
      fc.property(
        payment,
        fc.constantFrom('community', 'name', 'referral', 'met'),
        fc.nat(40),
        (given, key, length) => {
          fc.pre(length !== 32)
          expect(() =>
            decodePayment(encodePayment({ ...given, [key]: Buffer.alloc(length, 97) })),
          ).toThrow(RangeError)
        },
      ),
    )
  })

  it.each([
    { name: 'a negative amount', wrong: { amount: -1n } },
    { name: 'a part of a millisecond', wrong: { blockMs: 0.5 } },
    { name: 'no transaction', wrong: { tx: Buffer.alloc(0) } },
    { name: 'a payer of two bytes', wrong: { payer: Buffer.of(1, 2) } },
  ])('with $name throws', ({ wrong }) => {
    const [sample] = fc.sample(payment, 1)
    expect(() => decodePayment(encodePayment({ ...sample!, ...wrong }))).toThrow(RangeError)
  })

  it('throws an error with the kind and the fault', () => {
    const [sample] = fc.sample(payment, 1)
    const write = () => encodePayment({ ...sample!, blockMs: 0.5 })
    expect(write).toThrow("a pay_community_name can't be written")
    expect(write).toThrow('blockMs')
    expect(() => decodePayment(Buffer.from('{}'))).toThrow(
      'the body of a pay_community_name entry is not one of ours',
    )
  })
})
