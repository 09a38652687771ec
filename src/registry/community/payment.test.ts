import fc from 'fast-check'
import { encodeAbiParameters, type Hex, parseAbiParameters } from 'viem'
import { describe, expect, it } from 'vitest'
import { costing, RECIPIENT } from '../../../test/model/communityFold.js'
import { name as anyName } from '../../../test/support/arbitraries.js'
import { fromHex, toHex } from '../primitives/bytes.js'
import { nameToWord } from '../primitives/name.js'
import {
  type CommunityPayment,
  decideCommunityPayment,
  decodePaymentLog,
  type PaymentDecisionInputs,
} from './payment.js'
import type { CommunityRules } from './rules.js'

const BLOCK_MS = Date.UTC(2026, 10, 20, 8)
const rules = (changes: Partial<CommunityRules> = {}): CommunityRules => ({
  ...costing(10n),
  ...changes,
})
const since = (ms: number, changes: Partial<CommunityRules> = {}) => ({
  atMs: BLOCK_MS - ms,
  rules: rules(changes),
})
const payment: CommunityPayment = {
  network: '1',
  token: 'native',
  amount: 10n,
  recipient: RECIPIENT,
  community: 'club',
  name: 'foobar',
  blockMs: BLOCK_MS,
}
const facts: PaymentDecisionInputs = {
  history: [since(1_000_000_000)],
  isTaken: false,
  areRequirementsMet: true,
}
const outcomeOf = (
  changes: Partial<CommunityPayment>,
  given: Partial<PaymentDecisionInputs> = {},
) => {
  const decision = decideCommunityPayment({ ...payment, ...changes }, { ...facts, ...given })
  return decision.outcome === 'refused' ? decision.reason : decision.outcome
}

describe('a payment for a community name', () => {
  // test/model/communities.test.ts has the other outcomes
  it('is decided by its block’s time, truncated to the second, and its price is checked before the name', () => {
    expect(outcomeOf({ amount: 11n }), 'more is not too much').toBe('registered')
    expect(outcomeOf({}, { history: [since(-1_000)] })).toBe('not_found')
    expect(outcomeOf({}, { history: [since(-999)] })).toBe('registered')
    expect(outcomeOf({}, { history: [since(1, { startsAtMs: BLOCK_MS + 1 })] })).toBe('not_active')
    expect(outcomeOf({}, { history: [since(1, { startsAtMs: BLOCK_MS })] })).toBe('registered')
    expect(outcomeOf({}, { isTaken: true, areRequirementsMet: false })).toBe('lost')
    expect(outcomeOf({ amount: 9n }, { isTaken: true })).toBe('underpaid')
  })
})

describe('the log of a payment', () => {
  const LOG = parseAbiParameters(
    'bytes32, uint256, address, uint256, address, bytes32, bytes32, bytes32',
  )
  const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)
  const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(toHex)

  it('is decoded as the ABI defines it', () => {
    const log = fc.record({
      from: address,
      chainId: fc.bigInt(0n, 2n ** 64n),
      token: address,
      amount: fc.bigInt(0n, 2n ** 256n - 1n),
      recipient: address,
      community: anyName,
      name: anyName,
      referral: word,
    })
    fc.assert(
      fc.property(log, ({ from, chainId, token, amount, recipient, community, name, referral }) => {
        const communityWord = toHex(nameToWord(community))
        const nameWord = toHex(nameToWord(name))
        const payer: Hex = `0x${'0'.repeat(24)}${from.slice(2)}`
        const data = encodeAbiParameters(LOG, [
          payer,
          chainId,
          token,
          amount,
          recipient,
          communityWord,
          nameWord,
          referral,
        ])
        const read = decodePaymentLog(fromHex(data))
        expect({
          ...read,
          payer: read.payer.text,
          referral: read.referral && toHex(read.referral),
        }).toEqual({
          payer: from,
          chainId,
          token: BigInt(token) === 0n ? 'native' : token,
          amount,
          recipient,
          community,
          name,
          referral: BigInt(referral) === 0n ? null : referral,
        })
      }),
    )
  })

  it('has null for a malformed name word and a zero referral, and native for the zero address', () => {
    const read = decodePaymentLog(Buffer.alloc(256))
    expect(read).toMatchObject({ token: 'native', community: null, name: null, referral: null })
  })

  it.each([255, 257])('is refused with %d bytes', (length) => {
    expect(() => decodePaymentLog(Buffer.alloc(length))).toThrow(
      `a payment's log has 256 bytes, not ${length}`,
    )
  })
})
