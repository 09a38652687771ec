import { afterAll, beforeAll, expect, it } from 'vitest'
import { type HubWorld, startHubWorld } from '../support/hubWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'

let world: HubWorld
let proxy: Awaited<ReturnType<typeof startRpcProxy>>
/** Answers left in which the newest block is called finalized. */
let odd = 0
beforeAll(async () => {
  world = await startHubWorld()
  proxy = await startRpcProxy(world.anvil.rpcUrl, async (method, body) => {
    if (method !== 'eth_getBlockByNumber' || !body.includes('"finalized"') || odd === 0) return undefined
    odd -= 1
    return { body: body.replace('"finalized"', '"latest"') }
  })
})
afterAll(async () => {
  await proxy?.stop()
  await world?.stop()
})

it('one odd answer about finality brings nothing into the journal', async () => {
  await world.test.mine({ blocks: 80 })
  const config = { rpcUrls: [proxy.url, world.anvil.rpcUrl], confirmation: 'finalized' as const }
  const indexer = await world.restart({ config })
  while ((await indexer.step()).kind !== 'idle');
  const entries = async () =>
    Number((await world.pool.query('SELECT count(*) FROM journal WHERE kind = 1')).rows[0].count)
  await world.bid(0, ['early'])
  odd = 1
  for (let i = 0; i < 3; i++) await indexer.step()
  expect(odd).toBe(0)
  expect(await entries()).toBe(0)
})
