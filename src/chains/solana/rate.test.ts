import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Price, priceProblem, weiToLamports } from './rate.js'

const NOW_S = 1_795_000_000
const BOUNDS = { maxAgeSeconds: 3_600, maxMovePercent: 10 }
const price = (answer: bigint, decimals = 8, updatedAtS = NOW_S): Price => ({ answer, decimals, updatedAtS })

describe('a price', () => {
  it.each<[string, Price, Price | null, RegExp | null]>([
    ['fresh and first', price(200n), null, null],
    ['as old as allowed', price(200n, 8, NOW_S - 3_600), null, null],
    ['stale', price(200n, 8, NOW_S - 3_601), null, /3601 s old/],
    ['set ahead of our clock', price(200n, 8, NOW_S + 60), null, null],
    ['zero', price(0n), null, /not above zero/],
    ['negative', price(-1n), price(100n), /not above zero/],
    ['up by the bound', price(110n), price(100n), null],
    ['up by more', price(111n), price(100n), /moved by more than 10 %/],
    ['down by the bound', price(90n), price(100n), null],
    ['down by more', price(89n), price(100n), /moved/],
    ['the same in other decimals', price(10_000n, 10), price(100n, 8), null],
  ])('%s', (_, now, earlier, problem) => {
    const found = priceProblem(now, earlier, BOUNDS, NOW_S)
    if (problem) expect(found).toMatch(problem)
    else expect(found).toBeNull()
  })
})

describe('a bid in lamports', () => {
  it('is what it is worth: 0.01 ETH at 4,000 $ are 0.2 SOL at 200 $', () => {
    const rates = { ethUsd: price(4_000n * 10n ** 8n), solUsd: price(200n * 10n ** 18n, 18) }
    expect(weiToLamports(10n ** 16n, rates)).toBe(200_000_000n)
    expect(weiToLamports(1n, rates)).toBe(1n)
    expect(weiToLamports(0n, rates)).toBe(0n)
  })

  it('never comes out below its worth, and by less than a lamport above', () => {
    const answer = fc.bigInt(1n, 10n ** 24n)
    const decimals = fc.integer({ min: 0, max: 18 })
    fc.assert(
      fc.property(
        fc.bigInt(0n, 2n ** 128n),
        answer,
        answer,
        decimals,
        decimals,
        (wei, eth, sol, ethDecimals, solDecimals) => {
          const lamports = weiToLamports(wei, { ethUsd: price(eth, ethDecimals), solUsd: price(sol, solDecimals) })
          const worth = wei * eth * 10n ** BigInt(solDecimals)
          const of = (n: bigint) => n * sol * 10n ** BigInt(ethDecimals) * 10n ** 9n
          expect(of(lamports) >= worth).toBe(true)
          expect(lamports === 0n || of(lamports - 1n) < worth).toBe(true)
        },
      ),
    )
  })
})
