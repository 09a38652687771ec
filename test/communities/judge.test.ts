import { expect, it } from 'vitest'
import { ChainUnavailableError } from '../../src/chains/chain.js'
import { readTokenBalance } from '../../src/chains/evm/community/port.js'
import { createTokenBalancePort } from '../../src/chains/requirementInputs.js'
import { openChains } from '../support/bridgeWorld.js'
import { waitForReceipt } from '../support/receipt.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'
import { startCommunityWorld } from './communityWorld.js'

/** More payments than the judge handles in two steps, after which the first ones are due again. */
const WAITING = 210
/** Two Solana nodes that do not answer, each with a timeout of 20 s, for eight payments at once. */
const MS_A_PAYMENT = (2 * 20_000) / 8
/** A step that lasts longer ends the lead of the whole network (src/ops/worker.ts). */
const STEP_LIMIT_MS = 5 * 60_000

/** Creation of a contract that returns the number of the block for any call. */
const BLOCK_NUMBER_TOKEN = '0x66435f5260205ff35f5260076019f3'

const at = useWorld(() => startCommunityWorld(['club', 'gated', 'other']))
const proxy = useWorld(() =>
  startRpcProxy(at.world.spoke.anvil.rpcUrl, async (method) => {
    if (method !== 'eth_call' || behind === 0) return undefined
    behind -= 1
    return (answer) =>
      JSON.stringify({
        ...JSON.parse(answer),
        result: `0x${'1'.padStart(64, '0')}${'0'.repeat(64)}`,
      })
  }),
)
/** Number of answers from a node that is some blocks behind, in which the payer still holds nothing. */
let behind = 0

/** Sets a community's price, and requires a unit of a new token on the spoke. */
async function gate(community: string): Promise<void> {
  const token = await at.deployToken('8453')
  const requirements = [{ kind: 'token', network: '8453', token, minimum: '1' }]
  await at.configure(community, { prices: [at.price('1', 1_000n)], requirements })
  await at.mint(token, 1, 5n, '8453')
}

it('a requirement does not fail for good because of one node, where there is another', async () => {
  await gate('other')
  const file = structuredClone(at.world.file) as { chains: { rpcUrls: string[] }[] }
  file.chains[1]!.rpcUrls.unshift(proxy.url)
  const { chain } = (await openChains(at.pool, file))[1]!
  await at.pay({ community: 'other', name: 'ann' })
  await at.confirm()
  behind = 1
  let nowMs = Date.now()
  const judge = at.judgeOf({
    ports: [createTokenBalancePort(chain.rpc.forUse('judge'), readTokenBalance)],
    nowMs: () => nowMs,
  })
  for (let i = 0; i < 3; i++, nowMs += 5_000) await judge.step()
  expect(behind).toBe(0)
  expect(await at.ownerOf('other', 'ann')).toBe(at.addressOf(1))
})

it('a token whose balance differs in each block delays only payments that require it', async () => {
  const side = at.sideOf('8453')
  const hash = await side.walletClient(9).sendTransaction({ data: BLOCK_NUMBER_TOKEN })
  const { contractAddress } = await waitForReceipt(side.public, hash)
  const token = contractAddress!.toLowerCase()
  const requirements = [{ kind: 'token', network: '8453', token, minimum: '1' }]
  await at.configure('club', { prices: [at.price('1', 1n)], requirements })
  await gate('gated')
  for (let i = 0; i < 9; i++) await at.pay({ community: 'club', name: `n${i}`, amount: 1n })
  await at.pay({ community: 'gated', name: 'ann' })
  await at.confirm()
  const late = await startRpcProxy(side.anvil.rpcUrl, async (method, body) => {
    if (method !== 'eth_call') return undefined
    const newest = await side.public.getBlockNumber()
    return { body: body.replace('"latest"', `"0x${(newest - 1n).toString(16)}"`) }
  })
  const file = structuredClone(at.world.file) as { chains: { rpcUrls: string[] }[] }
  file.chains[1]!.rpcUrls.unshift(late.url)
  const { chain } = (await openChains(at.pool, file))[1]!
  const judge = at.judgeOf({
    ports: [createTokenBalancePort(chain.rpc.forUse('judge'), readTokenBalance)],
  })
  expect(await judge.step()).toEqual({ kind: 'entered', payments: 1, waiting: 9 })
  expect(await at.ownerOf('gated', 'ann')).toBe(at.addressOf(1))
  await late.stop()
})

it('a step shows that it works after each payment, since slow chains may take its time limit', async () => {
  await gate('gated')
  const names = ['slow-a', 'slow-b', 'slow-c']
  for (const name of names) await at.pay({ community: 'gated', name })
  await at.confirm()
  const signs: string[] = []
  const tokenBalance = async () => {
    signs.push('read')
    return 5n
  }
  const judge = at.judgeOf({ ports: [{ label: '8453', tokenBalance }] })
  await judge.step(() => signs.push('alive'))
  for (const name of names) expect(await at.ownerOf('gated', name)).toBe(at.addressOf(1))
  expect(signs.filter((sign) => sign === 'alive').length).toBeGreaterThanOrEqual(names.length)
  expect(signs.at(-1)).toBe('alive')
})

it('payments that wait for a hanging chain do not delay others, at any number', async () => {
  await at.configure('club', { prices: [at.price('1', 1_000n)] })
  await gate('gated')
  for (let i = 0; i < WAITING; i++) await at.pay({ community: 'gated', name: `n${i}`, amount: 1n })
  let nowMs = Date.now()
  const hangs = async () => {
    nowMs += MS_A_PAYMENT
    throw new ChainUnavailableError('no RPC URL answers')
  }
  await at.confirm()
  const judge = at.judgeOf({ ports: [{ label: '8453', tokenBalance: hangs }], nowMs: () => nowMs })
  const startMs = nowMs
  await judge.step()
  await at.pay({ name: 'ann' })
  await at.confirm()
  expect(nowMs - startMs).toBeLessThan(STEP_LIMIT_MS)
  for (let i = 0; i < 20 && (await at.ownerOf('club', 'ann')) === null; i++) await judge.step()
  expect(await at.ownerOf('club', 'ann')).toBe(at.addressOf(1))
})
