import { describe, expect, it } from 'vitest'
import { ChainUnavailableError } from '../../src/chains/chain.js'
import { createEvmChainRpc } from '../../src/chains/evm/chain.js'
import { createGasPriceCap } from '../../src/chains/evm/gasPrice.js'
import { parseChainsFile } from '../../src/config/index.js'
import { saveJobs } from '../../src/db/outbox/jobs.js'
import { DailyCapError } from '../../src/registry/outbox.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { CANCEL_AFTER_BLOCKS, REPLACE_AFTER_BLOCKS } from '../../src/relayer/machine/index.js'
import type { SteppedRelayer } from '../support/bridgeWorld.js'
import { executeOf } from '../support/kill.js'
import { holdBlocks, mineAt } from '../support/miner.js'
import { useBridge, useNodeProxy } from '../support/useBridge.js'

const GWEI = 10n ** 9n
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const world = useBridge()
const bridge = useNodeProxy(world)

/** A relayer whose first node is the proxy. */
function restart({
  hub = {},
  deliveries = {},
  urls = [] as string[],
} = {}): Promise<SteppedRelayer> {
  return world.restart({
    hub: { rpcUrls: [bridge.url, ...urls], ...hub },
    file: { deliveries: { mainnet: deliveries } },
  })
}

const pricesOf = async (guid: string) =>
  (await world.jobs())
    .filter(({ message }) => message && toHex(message.guid) === guid)
    .flatMap(({ txs }) => txs.map(({ maxFeePerGas }) => maxFeePerGas))
const setBaseFee = (gwei: bigint) => mineAt(world.hub, gwei * GWEI)

/** The proxy says that others tip this much. */
function lieAboutTips(gwei: bigint): void {
  const tip = `0x${(gwei * GWEI).toString(16)}`
  bridge.onCall = async (method) =>
    method === 'eth_feeHistory'
      ? (answer) => {
          const { result, ...rest } = JSON.parse(answer) as { result: { reward: string[][] } }
          return JSON.stringify({
            ...rest,
            result: { ...result, reward: result.reward.map(() => [tip]) },
          })
        }
      : undefined
}

describe('the price of gas', () => {
  it('is never above the cap, whatever a node says', async () => {
    await setBaseFee(1n)
    const capWei = 100n * GWEI
    const relayer = await restart({ hub: { maxGasPriceWei: capWei.toString() } })
    lieAboutTips(4_900n)
    const guid = await world.send(0, ['capped'])
    await world.finish(relayer)
    expect(await world.executions(guid)).toBe(1)
    for (const price of await pricesOf(guid)) expect(price).toBeLessThanOrEqual(capWei)
  })
})

describe('the cap on the price of gas', () => {
  const failsToTell = async (method: string) =>
    method === 'eth_feeHistory'
      ? (answer: string) =>
          JSON.stringify({
            ...JSON.parse(answer),
            result: undefined,
            error: { code: -32_000, message: 'too busy' },
          })
      : undefined
  const capOf = (urls: string[]) => {
    const file = world.fileWith({ rpcUrls: urls, local: false, messageLib: undefined })
    const [config] = parseChainsFile(file, 'test').chains
    return createGasPriceCap(createEvmChainRpc(config!), config!)
  }

  it('is that of two nodes that can tell prices, and none where one of two can not', async () => {
    await setBaseFee(100n)
    const cap = await capOf([world.hub.anvil.rpcUrl])()
    expect(cap).toBeGreaterThan(GWEI)
    const both = [bridge.url, world.hub.anvil.rpcUrl]
    expect(await capOf(both)()).toBe(cap)
    bridge.onCall = failsToTell
    await expect(capOf(both)()).rejects.toThrow(ChainUnavailableError)
    await expect(capOf([bridge.url])()).rejects.toThrow(ChainUnavailableError)
  })
})

describe('a transaction that nodes refuse for hours', () => {
  it('delays later nonces for a minute at most once a node accepts it', async () => {
    const relayer = await restart()
    const early = await world.send(0, ['refused-for-hours'])
    const garbled = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_sendRawTransaction',
      params: ['0x00'],
    })
    bridge.onCall = async (method) =>
      method === 'eth_sendRawTransaction' ? { body: garbled } : undefined
    for (let hour = 0; hour < 8; hour++) {
      world.aheadMs += HOUR_MS
      await world.run(relayer)
    }
    const [verification] = (await world.jobs()).filter(({ state }) => state === 'signed')
    expect(verification).toMatchObject({ kind: 'verify', failures: 8, nonce: await world.nonce() })
    const late = await world.send(1, ['behind-it'])
    bridge.onCall = async () => undefined
    world.aheadMs += 60_000
    await world.finish(relayer)
    expect(await world.executions(early)).toBe(1)
    expect(await world.executions(late)).toBe(1)
  })
})

describe('a transaction below the base fee that may not be replaced', () => {
  it('is cancelled, so that later ones go on, and its job waits for lower fees', async () => {
    await setBaseFee(1n)
    await world.hub.test.mine({ blocks: 6 })
    const relayer = await restart({
      deliveries: { spendCapWei: (10n ** 16n + 4n * 10n ** 15n).toString() },
    })
    const guid = await world.send(0, ['too-dear'])
    await relayer.step()
    await holdBlocks(world.hub)
    await world.run(relayer)
    expect(await executeOf(world, guid)).toMatchObject({ state: 'sent' })
    await mineAt(world.hub, 400n * GWEI, REPLACE_AFTER_BLOCKS)
    await world.run(relayer)
    // its fees are below the price, and what would be enough is above its cap
    expect((await executeOf(world, guid)).txs).toHaveLength(1)
    await mineAt(world.hub, 400n * GWEI, CANCEL_AFTER_BLOCKS)
    expect(await world.run(relayer)).toEqual(expect.arrayContaining(['execute cancelled']))
    await world.hub.test.mine({ blocks: 4 })
    await world.run(relayer)
    expect(await executeOf(world, guid)).toMatchObject({
      state: 'queued',
      nonce: null,
      reason: 'fees_above_cap',
    })
    await setBaseFee(1n)
    await world.hub.test.setAutomine(true)
    world.aheadMs = HOUR_MS
    await world.finish(relayer)
    expect(await world.executions(guid)).toBe(1)
  })
})

describe('a day', () => {
  it('has a cap for all that is signed; the next one continues automatically', async () => {
    await setBaseFee(1n)
    await world.hub.test.mine({ blocks: 6 })
    // the next day, for which nothing is signed yet; a message costs 0.01 ETH and its gas
    world.aheadMs = 2 * DAY_MS
    const relayer = await restart({ deliveries: { dailyCapWei: (2n * 10n ** 16n).toString() } })
    const first = await world.send(0, ['day-one'])
    const second = await world.send(0, ['day-two'])
    for (let i = 0; i < 4; i++) {
      await world.run(relayer)
      await world.hub.test.mine({ blocks: 1 })
    }
    expect(await world.executions(first)).toBe(1)
    expect(await world.executions(second)).toBe(0)
    expect(await executeOf(world, second)).toMatchObject({
      state: 'queued',
      nonce: null,
      reason: 'daily_cap',
    })
    world.aheadMs += DAY_MS
    await world.finish(relayer)
    expect(await world.executions(second)).toBe(1)
  })

  it('has it for what replaces a transaction, too', async () => {
    const job = (await world.jobs()).find(({ txs, signer }) => signer && txs.length > 0)!
    const [tx] = job.txs
    const after = { ...job, txs: [...job.txs, { ...tx!, maxFeePerGas: 2n * tx!.maxFeePerGas }] }
    const by = {
      epoch: null,
      nowMs: Date.now() + world.aheadMs,
      signer: job.signer!,
      dailyCapWei: 1n,
    }
    await expect(saveJobs(world.pool, [{ job, after }], by)).rejects.toThrow(DailyCapError)
    expect((await world.jobs()).find(({ id }) => id === job.id)).toEqual(job)
  })
})
