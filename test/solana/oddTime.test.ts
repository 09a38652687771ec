import { expect, it } from 'vitest'
import { useSolanaWorld } from './solanaWorld.js'

const world = await useSolanaWorld()

it.each([
  ['long ago, so that it would never be delivered', 1_600_000_000],
  ['far ahead, so that it would be delivered after its payer may take it back', 2_000_000_000],
])('one odd time of a block does not make a payment one of %s', async (_, blockTime) => {
  const paid = await world.pay(world.payer(0), `odd-${blockTime}`)
  let isLying = true
  world.proxy.alter = (method, [signature], result) => {
    if (method !== 'getTransaction' || signature !== paid || !isLying) return result
    isLying = false
    return { ...(result as object), blockTime }
  }
  const watcher = await world.watcher()
  for (let i = 0; i < 5; i++) await watcher.step().catch(() => {})
  expect(isLying).toBe(false)
  const { paid_ms: paidMs } = (await world.rows()).at(-1)!
  expect(Math.abs(paidMs - Date.now())).toBeLessThan(60_000)
})
