import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeHeads } from './headChoice.js'

const BEHIND = 3
const judge = (...heights: (number | null)[]) => judgeHeads(heights, BEHIND)

describe('the heads of nodes', () => {
  it.each<[what: string, heights: (number | null)[], verdicts: string[]]>([
    ['agree', [100, 102], ['good', 'good']],
    ['lag', [100, 130], ['behind', 'good']],
    ['are no numbers', [Number.NaN, 100], ['doubtful', 'good']],
    ['are negative or absurd', [-5, 2 ** 60, 100], ['doubtful', 'doubtful', 'good']],
    ['are not told', [null, 100, 101], ['unknown', 'good', 'good']],
    ['are outvoted', [100, 9_999, 101], ['good', 'doubtful', 'good']],
    ['are outvoted from below', [100, 40, 101], ['good', 'behind', 'good']],
    ['are of one node alone', [100], ['good']],
  ])('that %s', (_, heights, verdicts) => {
    expect(judge(...heights)).toEqual(verdicts)
  })

  it('never make a majority of honest nodes look wrong', () => {
    const honest = fc.integer({ min: 1_000, max: 1_000 + BEHIND })
    const lie = fc.oneof(fc.constant(Number.NaN), fc.integer(), fc.maxSafeInteger())
    fc.assert(
      fc.property(fc.array(honest, { minLength: 2, maxLength: 4 }), fc.array(lie, { maxLength: 3 }), (good, lies) => {
        const most = lies.slice(0, good.length - 1)
        const verdicts = judge(...most, ...good)
        expect(verdicts.slice(most.length)).toEqual(good.map(() => 'good'))
      }),
      { numRuns: 1_000 },
    )
  })
})
