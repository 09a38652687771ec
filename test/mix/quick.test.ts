import { expect, it } from 'vitest'
import { describeMix, runMix } from './lib/run.js'

const SEED = 1
/** Long enough for every request once, and for some changes beside them. */
const RUN_MS = 3_000
/** On a busy machine. Two quiet processors take twenty seconds with the start of the world. */
const DEADLINE_MS = 300_000

it('one process answers every route’s requests at once as a quiet process does', {
  timeout: DEADLINE_MS,
}, async () => {
  const report = await runMix({ seed: SEED, runMs: RUN_MS, hasLongest: false })
  console.log(describeMix(report))
  expect(report.faults.map(({ what }) => what)).toEqual([])
  expect(report.compared).toBeGreaterThan(400)
})
