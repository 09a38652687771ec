import { expect, it } from 'vitest'
import { type Margin, withMargin } from './margins.js'

it.each<[Margin, per1000: bigint, of999: bigint]>([
  ['delivery', 1_250n, 1_248n],
  ['gas', 1_250n, 1_248n],
  ['units', 1_100n, 1_098n],
  [{ bridgeMarginPercent: 5 }, 1_050n, 1_048n],
  [{ bridgeMarginPercent: 0 }, 1_000n, 999n],
])('the margin %o makes %d of 1,000, and rounds down', (margin, per1000, of999) => {
  expect(withMargin(1_000n, margin)).toBe(per1000)
  expect(withMargin(999n, margin)).toBe(of999)
})
