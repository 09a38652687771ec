import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { filesIn } from '../../scripts/files.js'
import { addPriceMargin, type PriceMargin } from './margins.js'

type MarginCase = [margin: PriceMargin, per1000: bigint, of999: bigint]

/** What 1,000 and 999 become with each named margin added. */
const AMOUNTS_BY_MARGIN_NAME: Record<
  Extract<PriceMargin, string>,
  [per1000: bigint, of999: bigint]
> = {
  delivery: [1_250n, 1_248n],
  gas: [1_250n, 1_248n],
  units: [1_100n, 1_098n],
}
const NAMED_CASES = Object.entries(AMOUNTS_BY_MARGIN_NAME).map(
  ([name, [per1000, of999]]): MarginCase => [name as PriceMargin, per1000, of999],
)

const SOURCES = filesIn('src/chains')
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => readFileSync(file, 'utf8'))

it.each(Object.keys(AMOUNTS_BY_MARGIN_NAME))('the margin %s is added to an amount', (name) => {
  expect(SOURCES.filter((text) => text.includes(`, '${name}')`))).not.toEqual([])
})

it.each<MarginCase>([
  ...NAMED_CASES,
  [{ bridgeMarginPercent: 5 }, 1_050n, 1_048n],
  [{ bridgeMarginPercent: 0 }, 1_000n, 999n],
])('the margin %o makes %d of 1,000, and rounds down', (margin, per1000, of999) => {
  expect(addPriceMargin(1_000n, margin)).toBe(per1000)
  expect(addPriceMargin(999n, margin)).toBe(of999)
})
