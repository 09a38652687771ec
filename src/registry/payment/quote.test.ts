import fc from 'fast-check'
import { keccak256 } from 'viem'
import { describe, expect, it } from 'vitest'
import { toHex } from '../primitives/bytes.js'
import {
  communityPaymentId,
  deriveQuoteId,
  lastContiguousSequence,
  type PaymentTerms,
  paymentMessageId,
  paymentSourceId,
  type QuotedPaymentEvent,
  type QuotedProgram,
  verifyQuote,
} from './quote.js'

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 })
const terms: fc.Arbitrary<PaymentTerms> = fc.record({
  payer: bytes32,
  name: bytes32,
  amountWei: fc.bigInt(0n, 2n ** 128n - 1n),
  lamports: fc.bigInt(0n, 2n ** 64n - 1n),
  expiresAt: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
  referral: bytes32,
})
const KEY = new Uint8Array(32).fill(1)
const PROGRAM: QuotedProgram = {
  network: 'mainnet',
  genesisHash: new Uint8Array(32).fill(3),
  programId: new Uint8Array(32).fill(4),
}
const paid = (
  quoted: PaymentTerms,
  changes: Partial<QuotedPaymentEvent> = {},
): QuotedPaymentEvent => ({
  ...quoted,
  sequence: 1n,
  quoteId: deriveQuoteId(KEY, PROGRAM, quoted),
  ...changes,
})

describe('a payment', () => {
  it('that matches its quote is honoured, with any sequence', () => {
    fc.assert(
      fc.property(terms, fc.bigInt(0n, 2n ** 64n - 1n), (quoted, sequence) => {
        expect(verifyQuote([KEY], PROGRAM, paid(quoted, { sequence }))).toBe('honoured')
      }),
    )
  })

  it('that changes any term, the key, the network, the cluster, the program or the id is foreign', () => {
    fc.assert(
      fc.property(
        terms,
        terms,
        fc.constantFrom<keyof PaymentTerms>(...TERM_NAMES),
        (quoted, other, term) => {
          fc.pre(!same(quoted[term], other[term]))
          expect(verifyQuote([KEY], PROGRAM, paid(quoted, { [term]: other[term] }))).toBe('foreign')
        },
      ),
    )
    fc.assert(
      fc.property(terms, bytes32, fc.uint8Array({ maxLength: 64 }), (quoted, key, id) => {
        for (const other of [
          { network: 'testnet' },
          { genesisHash: KEY },
          { programId: KEY },
        ] as const)
          expect(verifyQuote([KEY], { ...PROGRAM, ...other }, paid(quoted))).toBe('foreign')
        expect(verifyQuote([KEY], PROGRAM, paid(quoted, { quoteId: id }))).toBe('foreign')
        fc.pre(!same(key, KEY))
        expect(verifyQuote([key], PROGRAM, paid(quoted))).toBe('foreign')
        // a quote of a rotated key is still valid
        expect(verifyQuote([key, KEY], PROGRAM, paid(quoted))).toBe('honoured')
      }),
    )
  })

  it('has a recorded id for these terms', () => {
    const quoted = {
      payer: new Uint8Array(32).fill(2),
      name: Buffer.concat([Buffer.from('alice'), Buffer.alloc(27)]),
      amountWei: 10n ** 16n,
      lamports: 200_000_000n,
      expiresAt: 1_800_000_000n,
      referral: new Uint8Array(32),
    }
    expect(toHex(deriveQuoteId(KEY, PROGRAM, quoted))).toBe(
      '0xac00a270ded3d8822b25d00c9a990b1de450af8619375a3c5fbe36b8bf45bac6',
    )
  })

  it('is not quoted with numbers that the program cannot accept', () => {
    const [quoted] = fc.sample(terms, 1) as [PaymentTerms]
    expect(() => deriveQuoteId(KEY, PROGRAM, { ...quoted, amountWei: 2n ** 128n })).toThrow(
      RangeError,
    )
    expect(() => deriveQuoteId(KEY, PROGRAM, { ...quoted, lamports: 2n ** 64n })).toThrow(
      RangeError,
    )
  })

  it.each(['payer', 'name', 'referral'])('is not quoted with a %s of 31 bytes', (word) => {
    const [quoted] = fc.sample(terms, 1) as [PaymentTerms]
    expect(() => deriveQuoteId(KEY, PROGRAM, { ...quoted, [word]: new Uint8Array(31) })).toThrow(
      'a word of a quote has 32 bytes, not 31',
    )
  })
})

describe('a message id', () => {
  it('differs for every cluster, program and sequence', () => {
    const id = fc.tuple(bytes32, bytes32, fc.bigInt(0n, 2n ** 64n - 1n))
    const idOf = ([genesis, program, sequence]: [Uint8Array, Uint8Array, bigint]) =>
      paymentMessageId(paymentSourceId(genesis, program), sequence)
    fc.assert(
      fc.property(id, id, (a, b) => {
        const isSame = same(a[0], b[0]) && same(a[1], b[1]) && a[2] === b[2]
        expect(idOf(a).equals(idOf(b))).toBe(isSame)
      }),
    )
  })

  it('equals the hub’s hash of source and count, and for a community payment has another word between', () => {
    const program = new Uint8Array(32).fill(2)
    const start = `0x${'01'.repeat(32)}${'02'.repeat(32)}` as const
    const count = '0000000000000102'
    const word = Buffer.from('community').toString('hex')
    const source = paymentSourceId(KEY, program)
    expect(toHex(source)).toBe(keccak256(start))
    expect(toHex(paymentMessageId(source, 258n))).toBe(keccak256(`${toHex(source)}${count}`))
    expect(toHex(communityPaymentId(KEY, program, 258n))).toBe(keccak256(`${start}${word}${count}`))
  })
})

describe('sequences', () => {
  it('are contiguous up to the first gap, in any order of arrival', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.uniqueArray(fc.integer({ min: 1, max: 40 })), (from, offsets) => {
        const beyond = new Set(offsets.map((offset) => from + offset))
        const all = new Set(beyond)
        const upTo = lastContiguousSequence(from, beyond)
        expect(upTo).toBeGreaterThanOrEqual(from)
        for (let n = from + 1; n <= upTo; n++) expect(all.has(n)).toBe(true)
        expect(all.has(upTo + 1)).toBe(false)
        expect([...beyond].every((n) => n > upTo + 1)).toBe(true)
      }),
    )
  })
})

const TERM_NAMES: (keyof PaymentTerms)[] = [
  'payer',
  'name',
  'amountWei',
  'lamports',
  'expiresAt',
  'referral',
]
const same = (a: Uint8Array | bigint, b: Uint8Array | bigint): boolean =>
  typeof a === 'bigint' || typeof b === 'bigint' ? a === b : Buffer.from(a).equals(Buffer.from(b))
