import { readFileSync } from 'node:fs'
import { expect } from 'vitest'

const DAY_MS = 86_400_000
/** Share by which the documented number may be rounded up. */
const ROUNDING = 0.05

/** Expects calls during `ms` to make the calls a day that docs/run/deploying.md has for a chain. */
export function expectDocumentedCalls(chain: string, calls: number, ms: number): void {
  const lines = readFileSync('docs/run/deploying.md', 'utf8').split('\n')
  const row = lines.find((line) => line.startsWith(`| ${chain} | `)) ?? ''
  const documented = Number(row.split('|')[2]!.replaceAll(',', ''))
  const day = (calls * DAY_MS) / ms
  expect(day, chain).toBeLessThanOrEqual(documented)
  expect(day, chain).toBeGreaterThan(documented * (1 - ROUNDING))
}
