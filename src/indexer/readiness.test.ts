import { describe, expect, it } from 'vitest'
import type { IndexerState } from './evm/types.js'
import { readiness } from './readiness.js'

const NOW_MS = 1_000_000
const caughtUp: IndexerState = {
  ...{ network: 'mainnet', label: '1', chain: 1, latest: 100, confirmed: 98, nextBlock: 99, tailBlock: 100 },
  ...{ isCaughtUp: true, halted: null, lastStepMs: NOW_MS, lastError: null },
}
const problemsOf = (state: Partial<IndexerState> | null, isDatabaseUp = true) =>
  readiness([{ label: '1', network: 'mainnet', state: state && { ...caughtUp, ...state } }], isDatabaseUp, NOW_MS)

describe('readiness', () => {
  it.each([
    [{}, 'caught up'],
    [{ tailBlock: 97 }, 'three blocks behind'],
    [{ lastStepMs: NOW_MS - 30_000 }, 'a step 30 s ago'],
  ])('is given %o: %s', (state, _) => {
    expect(problemsOf(state)).toEqual({ ready: true, problems: [] })
  })

  it.each([
    [null, 'not indexing (another process leads, or the database is away)'],
    [{ halted: 'block 5 has been replaced' }, 'halted: block 5 has been replaced'],
    [{ latest: null }, 'has not answered yet'],
    [{ tailBlock: null }, 'has not answered yet'],
    [{ isCaughtUp: false }, 'catching up, at block 99 of 98'],
    [{ lastStepMs: null }, 'no step for 30 s: it hangs'],
    [{ lastStepMs: NOW_MS - 30_001, lastError: 'no answer' }, 'no step for 30 s: no answer'],
    [{ lastError: 'no answer' }, 'no answer'],
    [{ tailBlock: 96 }, '4 blocks behind its head'],
  ])('is not given %o', (state, problem) => {
    expect(problemsOf(state)).toEqual({ ready: false, problems: [`mainnet chain "1": ${problem}`] })
  })

  it('names the database first', () => {
    expect(problemsOf(null, false).problems).toEqual([
      'the database does not answer',
      'mainnet chain "1": not indexing (another process leads, or the database is away)',
    ])
  })
})
