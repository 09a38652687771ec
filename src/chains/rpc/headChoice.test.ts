import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyHeads, MIN_BLOCK_TIME_MS, type NodeHead } from './headChoice.js'

const NOW = 1_700_000_000_000
const BEHIND = 3
const headAt = (height: number, timeMs: number | null = NOW): NodeHead => ({ height, timeMs })
const verdictsOf = (...heads: (NodeHead | null)[]) =>
  classifyHeads(heads, { behindBlocks: BEHIND, leastBlockMs: MIN_BLOCK_TIME_MS }, NOW)

describe('the heads of nodes', () => {
  it.each<[what: string, heads: (NodeHead | null)[], verdicts: string[]]>([
    ['agree', [headAt(100), headAt(102)], ['good', 'good']],
    [
      'lag, by the time of the other’s block',
      [headAt(100, NOW - 60_000), headAt(130)],
      ['behind', 'good'],
    ],
    ['lead without the time for it', [headAt(100), headAt(1_000_000)], ['good', 'doubtful']],
    [
      'lead with a time to come',
      [headAt(100), headAt(130, NOW + 86_400_000)],
      ['good', 'doubtful'],
    ],
    ['lead without a time', [headAt(100), headAt(130, null)], ['good', 'doubtful']],
    ['are no numbers', [headAt(Number.NaN), headAt(100)], ['doubtful', 'good']],
    [
      'are negative or absurd',
      [headAt(-5), headAt(2 ** 60), headAt(100)],
      ['doubtful', 'doubtful', 'good'],
    ],
    ['are unknown', [null, headAt(100), headAt(101)], ['unknown', 'good', 'good']],
    ['are outvoted', [headAt(100), headAt(9_999), headAt(101)], ['good', 'doubtful', 'good']],
    ['are outvoted from below', [headAt(100), headAt(40), headAt(101)], ['good', 'behind', 'good']],
    ['are of one node alone', [headAt(100)], ['good']],
  ])('that %s', (_, heads, verdicts) => {
    expect(verdictsOf(...heads)).toEqual(verdicts)
  })

  const honest = fc
    .integer({ min: 1_000, max: 1_000 + BEHIND })
    .map((height) => headAt(height, NOW - 1_000))
  const lie = fc.record({
    height: fc.oneof(fc.constant(Number.NaN), fc.integer(), fc.maxSafeInteger()),
    timeMs: fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 2 * NOW })),
  })

  it('never make a majority of honest nodes look wrong', () => {
    fc.assert(
      fc.property(
        fc.array(honest, { minLength: 2, maxLength: 4 }),
        fc.array(lie, { maxLength: 3 }),
        (good, lies) => {
          const most = lies.slice(0, good.length - 1)
          const verdicts = verdictsOf(...most, ...good)
          expect(verdicts.slice(most.length)).toEqual(good.map(() => 'good'))
        },
      ),
      { numRuns: 1_000 },
    )
  })

  it('never let one of two lead further than the time of its block allows', () => {
    fc.assert(
      fc.property(honest, lie, (good, bad) => {
        const [verdict] = verdictsOf(good, bad)
        if (!(bad.height > good.height)) return
        const isLater = bad.timeMs !== null && bad.timeMs > good.timeMs!
        if (!isLater) expect(verdict).toBe('good')
        // clocks may differ by five minutes at most
        if (verdict !== 'good')
          expect(bad.height - good.height).toBeLessThanOrEqual(BEHIND + 301_000 / 100)
      }),
      { numRuns: 1_000 },
    )
  })
})
