import { afterEach, expect, it } from 'vitest'
import { type Anvil, startAnvil } from './anvil.js'
import { advanceClockToLead, hostUnixSeconds, readClockLeadSeconds } from './clock.js'
import { localChainClients } from './localClients.js'
import { replaceNewestBlocks } from './miner.js'

const CHAIN_ID = 31_337
const running: Anvil[] = []

async function start(options: { behindS?: number; extraArgs?: string[] } = {}) {
  const anvil = await startAnvil({ chainId: CHAIN_ID, ...options })
  running.push(anvil)
  return localChainClients(anvil)
}

afterEach(async () => {
  for (const anvil of running.splice(0)) await anvil.stop()
})

it('agrees with this host, also after a start that took seconds', async () => {
  // this clock is like that of an anvil whose start took 10 s after it had read the time
  const clients = await start({
    extraArgs: ['--timestamp', String(hostUnixSeconds() - 10)],
  })
  expect(await readClockLeadSeconds(clients)).toBe(0)
})

it('is behind by as much as was asked', async () => {
  expect(await readClockLeadSeconds(await start({ behindS: 3_600 }))).toBe(-3_600)
})

it('goes on over a reorg', async () => {
  const clients = await start()
  await clients.test.mine({ blocks: 3 })
  await clients.test.increaseTime({ seconds: 100 })
  await clients.test.mine({ blocks: 2 })
  await replaceNewestBlocks(clients, 2)
  expect(await readClockLeadSeconds(clients)).toBe(100)
})

it('is never set back', async () => {
  const clients = await start()
  await clients.test.increaseTime({ seconds: 100 })
  await advanceClockToLead(clients, 0)
  expect(await readClockLeadSeconds(clients)).toBe(100)
})
