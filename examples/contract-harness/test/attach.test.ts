import { type Anvil, attach, type Stack, startAnvil, until } from 'clusterd/testing'
import { createPublicClient, http, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deployGate } from '../gate.js'

const FEED = parseAbi([
  'function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)',
])

// yours would run already: `anvil`, or `npx hardhat node`
let yours: Anvil
let world: Stack<'mainnet'>
beforeAll(async () => {
  yours = await startAnvil({ chainId: 31_337 })
  world = await attach({ rpcUrl: yours.rpcUrl })
}, 60_000)
afterAll(async () => {
  await world?.stop()
  await yours?.stop()
})

describe('NameGate on a chain of your own', () => {
  it('opens once the name is mined, and the world sees it confirmed once you mine on', async () => {
    const gate = await deployGate(world)
    const tx = await gate.bid(1, 'holder')
    await expect.poll(() => gate.opensFor(1, 'holder')).toBe(true)
    await until.status(world, tx, 'pending')
    await world.anvils['1'].mine(2)
    await until.status(world, tx, 'finalized')
  })

  it('sets prices', async () => {
    await world.prices.set({ ether: 2_000 })
    const { rpcUrl, feeds } = world.anvils['1']
    const reader = createPublicClient({ transport: http(rpcUrl) })
    const read = { address: feeds!.ethUsd, abi: FEED, functionName: 'latestRoundData' } as const
    expect((await reader.readContract(read))[1]).toBe(2_000n * 10n ** 8n)
  })

  it('leaves a chain of yours to you', async () => {
    await expect(world.anvils['1'].restart()).rejects.toThrow(
      'its process is yours to stop and start',
    )
  })
}, 60_000)
