import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HubWorld, startHubWorld } from '../support/hubWorld.js'
import { runStatusModel } from './statusModel.js'

const RUNS = 60

let world: HubWorld
beforeAll(async () => {
  world = await startHubWorld()
})
afterAll(() => world?.stop())

describe('the status of transactions', () => {
  it('agrees with a model while they are mined, reorged, dropped, replaced, cancelled and sent again, in any order', async () => {
    const counts = await runStatusModel(world, RUNS)
    console.log(`model of status: ${[...counts].map(([name, n]) => `${n} ${name}`).join(', ')}`)
    expect(counts.get('runs')).toBe(RUNS)
  }, 240_000)
})
