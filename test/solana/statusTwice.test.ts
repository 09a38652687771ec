import { expect, it } from 'vitest'
import { useSolanaWorld } from './solanaWorld.js'

const world = await useSolanaWorld()

it('a transaction has not failed for good by the word of one node, where there is another', async () => {
  const { chain } = await world.open({ rpcUrls: [world.proxy.url, world.solana.rpcUrl] })
  const signature = await world.pay(world.payer(1), 'one-word')
  let hasLied = false
  world.proxy.alter = (method, _, result) => {
    if (method !== 'getSignatureStatuses' || hasLied) return result
    hasLied = true
    const { value, ...rest } = result as { value: object[] }
    return { ...rest, value: value.map((status) => ({ ...status, err: { InstructionError: [0, 'InvalidSeeds'] } })) }
  }
  expect(await chain.transaction(signature)).toMatchObject({ state: 'seen', succeeded: true })
  expect(hasLied).toBe(true)
})
