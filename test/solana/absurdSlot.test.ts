import { expect, it } from 'vitest'
import { useSolanaWorld } from './solanaWorld.js'
import { settle } from './support.js'

const world = await useSolanaWorld()

it('one odd slot of a transaction does not hide all later payments', async () => {
  let isLying = true
  const odd = await world.pay(world.payer(0), 'odd')
  world.proxy.alter = (method, [signature], result) => {
    if (method !== 'getTransaction' || signature !== odd || !isLying) return result
    isLying = false
    return { ...(result as object), slot: 2 ** 40 }
  }
  const watcher = await world.watcher()
  for (let i = 0; i < 5; i++) await watcher.step().catch(() => {})
  expect(isLying).toBe(false)
  await world.pay(world.payer(0), 'later')
  let nowMs = Date.now()
  const again = await world.watcher({ nowMs: () => nowMs })
  for (let i = 0; i < 10; i++) {
    nowMs += 10_000
    await settle(again)
  }
  expect((await world.rows()).map(({ name }) => name)).toEqual(['odd', 'later'])
})
