import { expect, it } from 'vitest'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { HUB_CHAIN_ID } from '../support/bridgeContracts.js'
import { startTestDaemon } from '../support/daemon.js'
import type { OnCall } from '../support/rpcProxy.js'
import { answering, failing, useSilentNodes } from './silentNodes.js'

/** A whole daemon with one node without old logs: it does not offer names that it can't prove to be free. */

const { world, node } = useSilentNodes()

it('a taken name is not offered while the hub’s record does not show that all logs are known', async () => {
  await world.bid(0, ['taken'])
  await world.test.mine({ blocks: 3 })
  let isHonest = false
  const lossy: OnCall = async (method, body) => {
    if (isHonest) return undefined
    if (method === 'eth_getLogs') return answering(() => ({ result: [] }))
    const isByHash = method === 'eth_call' && body.includes('blockHash')
    return isByHash ? failing(-32_602, 'invalid argument 1') : undefined
  }
  const { contract, endpoint, startBlock } = world.config
  const hub = {
    network: 'mainnet',
    label: '1',
    role: 'hub',
    chainId: HUB_CHAIN_ID,
    rpcUrls: [await node(lossy)],
    contract,
    endpoint,
    startBlock,
    confirmation: { blocks: 2 },
    pollMs: 100,
  }
  const databaseUrl = await createDatabase(world.postgres.url, 'unproved')
  const env = { ROLES: 'api,index' }
  const daemon = await startTestDaemon(databaseUrl, { chains: [hub] }, env)
  const check = async () => {
    const url = `${daemon.api}/v1/names/register/check`
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: '["taken"]' })
    return { status: response.status, body: await response.json() }
  }
  try {
    await expect
      .poll(async () => (await daemon.status()).problems.join(), { timeout: 20_000 })
      .toContain('running hash')
    expect(await check()).toMatchObject({ status: 503, body: { error: 'catching_up' } })
    expect(await daemon.status()).toMatchObject({ code: 503, ok: false })

    isHonest = true
    const taken = { status: 200, body: [{ name: 'taken', isAvailable: false }] }
    await expect.poll(check, { timeout: 20_000 }).toEqual(taken)
    await expect.poll(async () => (await daemon.status()).code, { timeout: 20_000 }).toBe(200)
  } finally {
    await daemon.stop()
  }
})
