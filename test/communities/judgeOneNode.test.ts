import { afterAll, beforeAll, expect, it } from 'vitest'
import { createBalancePort } from '../../src/chains/evm/community/port.js'
import { openChains } from '../support/bridgeWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { type CommunityWorld, startCommunityWorld } from './communityWorld.js'

let at: CommunityWorld
let proxy: Awaited<ReturnType<typeof startRpcProxy>>
/** Answers of a node that is some blocks behind, in which the payer holds nothing yet. */
let behind = 0
beforeAll(async () => {
  at = await startCommunityWorld(['club'])
  proxy = await startRpcProxy(at.world.spoke.anvil.rpcUrl, async (method) => {
    if (method !== 'eth_call' || behind === 0) return undefined
    behind -= 1
    return (answer) => JSON.stringify({ ...JSON.parse(answer), result: `0x${'1'.padStart(64, '0')}${'0'.repeat(64)}` })
  })
})
afterAll(async () => {
  await proxy?.stop()
  await at?.stop()
})

it('a requirement is not failed for ever by the word of one node, where there is another', async () => {
  const token = await at.deployToken('8453')
  const requirements = [{ kind: 'token', network: '8453', token, minimum: '1' }]
  await at.configure('club', { prices: [at.price('1', 1_000n)], requirements })
  await at.mint(token, 1, 5n, '8453')
  const file = structuredClone(at.world.file) as { chains: { rpcUrls: string[] }[] }
  file.chains[1]!.rpcUrls.unshift(proxy.url)
  const { chain } = (await openChains(at.pool, file))[1]!
  await at.pay({ name: 'ann' })
  await at.confirm()
  behind = 1
  const judge = at.judgeOf({ ports: [createBalancePort(chain.rpc.forUse('judge'))] })
  for (let i = 0; i < 3; i++) await judge.step()
  expect(behind).toBe(0)
  expect(await at.ownerOf('club', 'ann')).toBe(at.addressOf(1))
})
