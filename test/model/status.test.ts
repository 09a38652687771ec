import { describe, expect, it } from 'vitest'
import { startHubWorld } from '../support/hubWorld.js'
import { useWorld } from '../support/useWorld.js'
import { runStatusModel } from './statusModel.js'

/** `STATUS_RUNS=200` for a long run. */
const RUNS = Number(process.env.STATUS_RUNS ?? 12)

const world = useWorld(() => startHubWorld())

describe('the status of transactions', () => {
  it('agrees with a model while they are mined, reorged, dropped, replaced, cancelled and sent again, in any order', async () => {
    const counts = await runStatusModel(world, RUNS)
    console.log(`model of status: ${[...counts].map(([name, n]) => `${n} ${name}`).join(', ')}`)
    expect(counts.get('runs')).toBe(RUNS)
  }, 240_000)
})
