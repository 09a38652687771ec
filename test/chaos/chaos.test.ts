import { expect, it } from 'vitest'
import { timesTooLong } from './lib/observer.js'
import { describeRun, runChaos, type SoFar } from './lib/run.js'

const SEED = 46
/** Start and settling take about a minute more. `npm run chaos -- --seed S --minutes M` runs longer. */
const RUN_MS = 25_000
const DEADLINE_MS = 400_000

/** A slow machine takes longer until the first reorg and kill. */
const isEnough = ({ disruptions, starts }: SoFar): boolean =>
  (disruptions.reorgs ?? 0) > 0 && starts > 0

it('a world under disruptions neither loses nor duplicates anything', {
  timeout: DEADLINE_MS,
}, async () => {
  const report = await runChaos({ seed: SEED, runMs: RUN_MS, isEnough })
  console.log(describeRun(report))
  if (report.breaches.length > 0) console.log(report.daemonLog)
  expect(report.breaches).toEqual([])
  // disruptions happened, and work continued
  expect(isEnough(report)).toBe(true)
  expect(Object.values(report.faults).reduce((sum, n) => sum + n, 0)).toBeGreaterThan(5)
  expect(report.names).toBeGreaterThan(20)
  expect(report.messages).toBeGreaterThan(5)
})

it('take-overs and look-ups of more than five seconds fail a manual run', () => {
  const takeOvers = { kill: { count: 2, maxMs: 5_001 }, freeze: { count: 1, maxMs: 4_999 } }
  expect(timesTooLong({ takeOvers, lookUpGapMs: 5_001, residentBytes: 0 })).toEqual([
    'a take-over after kill took 5001 ms',
    'a daemon answered no look-up for 5001 ms',
  ])
})
