import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  costing as costingOf,
  FREE,
  MINUTE_MS,
  RECIPIENT,
} from '../../../test/model/communityFold.js'
import {
  lowestPriceWithinGrace,
  PRICE_GRACE_MS,
  type RulesVersion,
  rulesAtBlock,
  rulesAtTime,
  rulesWithinPriceGrace,
} from './history.js'
import type { CommunityRules } from './rules.js'

const T0 = Date.UTC(2026, 10, 20, 8)
const ASKED = { network: '1', token: 'native', recipient: RECIPIENT }
const costing = (amount: bigint | null, recipient = RECIPIENT) =>
  amount === null ? { ...FREE } : costingOf(amount, { recipient })
const at = (minutes: number, rules: CommunityRules): RulesVersion => ({
  atMs: T0 + minutes * MINUTE_MS,
  rules,
})
const lowest = (history: RulesVersion[], minutes: number) =>
  lowestPriceWithinGrace(history, ASKED, T0 + minutes * MINUTE_MS)

describe('the rules at a time', () => {
  const history = [at(0, costing(1n)), at(10, costing(2n)), at(10, costing(3n))]

  it.each([
    [-1, undefined],
    [0, 1n],
    [9.9, 1n],
    [10, 3n],
    [11, 3n],
  ])('are the newest rules set until then, after %d minutes', (minutes, amount) => {
    expect(rulesAtTime(history, T0 + minutes * MINUTE_MS)?.prices[0]?.amount).toBe(amount)
  })

  it('are null before any rules were set', () => {
    expect(rulesAtTime([], T0)).toBeNull()
  })

  it('hold for a block when set in its second, because block times are truncated to seconds', () => {
    const late = [{ atMs: T0 + 999, rules: costing(1n) }]
    expect(rulesAtBlock(late, T0)).not.toBeNull()
    expect(rulesAtBlock([{ atMs: T0 + 1_000, rules: costing(1n) }], T0)).toBeNull()
    expect(lowestPriceWithinGrace(late, ASKED, T0)).toBe(1n)
    expect(lowestPriceWithinGrace([{ atMs: T0 + 1_000, rules: costing(1n) }], ASKED, T0)).toBeNull()
  })
})

describe('the price that counts for a block', () => {
  it('is the current price', () => {
    expect(lowest([at(0, costing(5n))], 60)).toBe(5n)
    expect(lowest([at(0, costing(5n))], -1)).toBeNull()
    expect(lowest([], 0)).toBeNull()
  })

  it('is still the lower one for half an hour after a rise', () => {
    const history = [at(0, costing(5n)), at(60, costing(9n))]
    expect(lowest(history, 60)).toBe(5n)
    expect(lowest(history, 89)).toBe(5n)
    expect(lowest(history, 90)).toBe(9n)
    expect(lowest(history, 91)).toBe(9n)
  })

  it('is the lower one at once after a reduction', () => {
    expect(lowest([at(0, costing(9n)), at(60, costing(5n))], 60)).toBe(5n)
  })

  it.each([
    [59, 9n],
    [60, 1n],
    [90, 1n],
    [91, 9n],
  ])('is a price that was in force only briefly, after %d minutes', (minutes, price) => {
    const history = [at(0, costing(9n)), at(60, costing(1n)), at(61, costing(9n))]
    expect(lowest(history, minutes)).toBe(price)
  })

  it.each([
    [60, 5n],
    [89, 5n],
    [90, null],
  ])(
    'stays valid for half an hour after prices were removed, after %d minutes',
    (minutes, price) => {
      const history = [at(0, costing(5n)), at(60, costing(null))]
      expect(lowest(history, minutes)).toBe(price)
    },
  )

  it('is a price for the same token, network and recipient', () => {
    const history = [
      at(0, costing(5n)),
      at(60, costing(5n, '0x00000000000000000000000000000000000000b2')),
    ]
    const blockMs = T0 + 60 * MINUTE_MS
    expect(lowestPriceWithinGrace(history, { ...ASKED, token: RECIPIENT }, blockMs)).toBeNull()
    expect(lowestPriceWithinGrace(history, { ...ASKED, network: '8453' }, blockMs)).toBeNull()
    expect(
      lowestPriceWithinGrace(
        history,
        { ...ASKED, recipient: RECIPIENT.replace('a1', 'c3') },
        blockMs,
      ),
    ).toBeNull()
    // the former recipient is accepted as long as the former price
    expect([lowest(history, 89), lowest(history, 90)]).toEqual([5n, null])
  })

  it('is the lowest price in force at any moment of that time', () => {
    // all changes are at whole minutes, so that each moment can be checked
    const steps = fc.array(
      fc.record({ afterMinutes: fc.nat(30), amount: fc.option(fc.bigInt(1n, 9n), { nil: null }) }),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(steps, fc.nat(200), (steps, blockMinutes) => {
        let minutes = 0
        const history = steps.map(({ afterMinutes, amount }) => {
          minutes += afterMinutes
          return at(minutes, costing(amount))
        })
        const blockMs = T0 + blockMinutes * MINUTE_MS
        const moments = Array.from(
          { length: 31 },
          (_, i) => blockMs - PRICE_GRACE_MS + i * MINUTE_MS,
        )
        const inForce = [...new Set(moments.flatMap((ms) => rulesAtTime(history, ms) ?? []))]
        expect(rulesWithinPriceGrace(history, blockMs)).toEqual(inForce)
        const amounts = inForce.flatMap(({ prices }) => prices).map(({ amount }) => Number(amount))
        const least = amounts.length === 0 ? null : BigInt(Math.min(...amounts))
        expect(lowestPriceWithinGrace(history, ASKED, blockMs)).toBe(least)
      }),
    )
  })
})
