import { afterEach, expect, it } from 'vitest'
import { type Anvil, startAnvil } from './anvil.js'
import { advanceClockToLead, hostUnixSeconds, readClockLeadSeconds } from './clock.js'
import { localChainClients } from './localClients.js'
import { replaceNewestBlocks } from './miner.js'

const CHAIN_ID = 31_337
const startedAnvils: Anvil[] = []

async function startTestAnvil(options: { behindS?: number; extraArgs?: string[] } = {}) {
  const anvil = await startAnvil({ chainId: CHAIN_ID, ...options })
  startedAnvils.push(anvil)
  return localChainClients(anvil)
}

afterEach(async () => {
  for (const anvil of startedAnvils.splice(0)) await anvil.stop()
})

it('agrees with this host, also after a start that took seconds', async () => {
  // this clock is like that of an anvil whose start took 10 s after it had read the time
  const clients = await startTestAnvil({
    extraArgs: ['--timestamp', String(hostUnixSeconds() - 10)],
  })
  expect(await readClockLeadSeconds(clients)).toBe(0)
})

it('is behind by as much as was asked', async () => {
  expect(await readClockLeadSeconds(await startTestAnvil({ behindS: 3_600 }))).toBe(-3_600)
})

it('goes on over a reorg', async () => {
  const clients = await startTestAnvil()
  await clients.test.mine({ blocks: 3 })
  await clients.test.increaseTime({ seconds: 100 })
  await clients.test.mine({ blocks: 2 })
  await replaceNewestBlocks(clients, 2)
  expect(await readClockLeadSeconds(clients)).toBe(100)
})

it('is never set back', async () => {
  const clients = await startTestAnvil()
  await clients.test.increaseTime({ seconds: 100 })
  await advanceClockToLead(clients, 0)
  expect(await readClockLeadSeconds(clients)).toBe(100)
})
