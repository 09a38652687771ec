import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type BridgeWorld, startBridgeWorld } from '../support/bridgeWorld.js'
import { die, expectOnce } from '../support/kill.js'
import { holdBlocks } from '../support/miner.js'

let world: BridgeWorld
beforeAll(async () => {
  world = await startBridgeWorld()
})
afterAll(() => world.stop())
beforeEach(async () => {
  world.aheadMs = 0
  await world.hub.test.setAutomine(true)
})

describe('a relayer killed', () => {
  // the first pass is the verification's, the second the execution's
  const points = ['sign', 'signed', 'broadcast', 'sent', 'included', 'confirmed'].flatMap((point) => [
    `relay.${point}:1`,
    `relay.${point}:2`,
  ])
  it.each(['relay.queued:1', ...points])('at %s executes the message once', async (point) => {
    const guid = await world.send(0, [point.replace(/[.:]/g, '-')])
    await holdBlocks(world.hub)
    expect(await die(world, point)).toBe('SIGKILL')
    await expectOnce(world, guid)
  })
})
