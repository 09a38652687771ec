import { describe, expect, it } from 'vitest'
import { FINALITY_ALARM_MS } from './alarms.js'
import {
  type ChainState,
  chainProblem,
  indexingLagMs,
  isHeadStale,
  usualConfirmationDelayMs,
} from './chainState.js'
import { LoopStageTimer } from './stages.js'

const NOW_MS = 10 * FINALITY_ALARM_MS
const BLOCK_MS = 12_000
const caughtUp: ChainState = {
  network: 'mainnet',
  label: '1',
  chain: 1,
  latest: 100,
  confirmed: 98,
  nextBlock: 99,
  tailBlock: 100,
  headMs: NOW_MS,
  confirmedMs: NOW_MS,
  blockMs: BLOCK_MS,
  isCaughtUp: true,
  trust: 'proved',
  trustNodes: 2,
  errorAlarm: null,
  halted: null,
  lastStepMs: NOW_MS,
  lastError: null,
  stagesMs: new LoopStageTimer().lastMinute(),
}
const problemOf = (state: Partial<ChainState>) =>
  chainProblem({ ...caughtUp, ...state }, NOW_MS)?.text ?? null

describe('a chain', () => {
  it.each([
    [{}, 'caught up'],
    [{ tailBlock: 97 }, 'three blocks behind'],
    [{ lastStepMs: NOW_MS - 30_000 }, 'a step 30 s ago'],
    [{ headMs: NOW_MS - 20 * BLOCK_MS }, 'no block for 20 times the usual'],
    [{ confirmedMs: null }, 'confirmed by depth'],
    [{ confirmedMs: NOW_MS - FINALITY_ALARM_MS }, 'finality as late as it may be'],
  ])('is well with %o: %s', (state, _) => {
    expect(problemOf(state)).toBeNull()
  })

  it.each([
    [{ halted: 'block 5 has been replaced' }, 'halted: block 5 has been replaced'],
    [{ latest: null }, 'has not answered yet'],
    [{ tailBlock: null, lastError: 'no answer' }, 'has not answered yet: no answer'],
    [{ isCaughtUp: false }, 'catching up, at block 99 of 98'],
    [{ lastStepMs: null }, 'no step for 30 s: it hangs'],
    [{ lastStepMs: NOW_MS - 30_001 }, 'no step for 30 s: it hangs'],
    [{ lastError: 'no answer' }, 'no answer'],
    [{ tailBlock: 96 }, '4 blocks behind its head'],
    [{ latest: 97 }, 'its head is block 97, below what was confirmed'],
    [{ headMs: NOW_MS - 20 * BLOCK_MS - 1_000 }, 'its head stands still: 241 s old'],
    [{ headMs: NOW_MS - 61_000, blockMs: 250 }, 'its head stands still: 61 s old'],
    [{ confirmedMs: NOW_MS - FINALITY_ALARM_MS - 1_000 }, 'its finality stands still: 3601 s old'],
  ])('is not well with %o', (state, problem) => {
    expect(problemOf(state)).toBe(problem)
  })

  const isOld = { headMs: NOW_MS - 20 * BLOCK_MS - 1_000 }
  it.each<[string, Partial<ChainState>, string]>([
    ['an RPC that is away', { lastError: 'no answer' }, 'ClusterdChainFailing'],
    [
      'and for so long that the head is old',
      { lastError: 'no answer', ...isOld },
      'ClusterdChainFailing',
    ],
    ['in a catch-up', { lastError: 'no answer', isCaughtUp: false }, 'ClusterdChainFailing'],
    ['a head that stands still', isOld, 'ClusterdHeadStandsStill'],
    ['a step that neither ends nor fails', { lastStepMs: NOW_MS - 30_001 }, 'ClusterdLoopHangs'],
    ['a halted chain, whatever fails', { halted: 'why', lastError: 'x' }, 'ClusterdChainHalted'],
  ])('has the alarm of its cause: %s', (_, state, alarm) => {
    expect(chainProblem({ ...caughtUp, ...state }, NOW_MS)?.alarm).toBe(alarm)
  })

  it('that was never indexed is not well', () => {
    expect(chainProblem(null, NOW_MS)?.text).toBe('not indexed yet')
    expect(isHeadStale({ headMs: null, blockMs: null }, NOW_MS)).toBe(true)
  })

  it('is behind by its head’s age and by the blocks that are not read yet', () => {
    expect(indexingLagMs(caughtUp, NOW_MS)).toBe(0)
    expect(indexingLagMs({ ...caughtUp, tailBlock: 95, headMs: NOW_MS - 5_000 }, NOW_MS)).toBe(
      5_000 + 5 * BLOCK_MS,
    )
    expect(indexingLagMs({ ...caughtUp, tailBlock: null, nextBlock: 91 }, NOW_MS)).toBe(
      10 * BLOCK_MS,
    )
    expect(indexingLagMs({ ...caughtUp, headMs: null }, NOW_MS)).toBeNull()
  })

  it('is behind by its head’s age at least before a new leader has read it', () => {
    const known = { ...caughtUp, headMs: NOW_MS - 5_000, tailBlock: null }
    expect(indexingLagMs({ ...known, latest: null }, NOW_MS)).toBe(5_000)
  })

  it('whose clock runs ahead of ours is not behind', () => {
    expect(indexingLagMs({ ...caughtUp, headMs: NOW_MS + 60_000 }, NOW_MS)).toBe(0)
  })
})

describe('the usual time to a confirmation', () => {
  it.each<[string, Partial<ChainState>, number | null]>([
    ['blocks by depth', { confirmedMs: null, latest: 100, confirmed: 88 }, 13 * BLOCK_MS],
    ['a depth of none', { confirmedMs: null, latest: 100, confirmed: 100 }, BLOCK_MS],
    ['a finalized header', { confirmedMs: NOW_MS - 780_000 }, 780_000 + BLOCK_MS],
    ['a finalized header at the head', {}, BLOCK_MS],
    ['no usual time of blocks', { blockMs: null }, null],
    ['no head', { latest: null }, null],
    ['no confirmed block', { confirmed: null }, null],
  ])('with %s', (_, state, ms) =>
    expect(usualConfirmationDelayMs({ ...caughtUp, ...state })).toBe(ms),
  )
})
