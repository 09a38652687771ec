import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ChainIndexer } from '../../src/indexer/evm/chainIndexer.js'
import { fetchRange } from '../../src/indexer/evm/fetchRange.js'
import { createRangeWidth } from '../../src/indexer/evm/width.js'
import { type HubWorld, startHubWorld } from '../support/hubWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'

let world: HubWorld
let proxy: Awaited<ReturnType<typeof startRpcProxy>>
/** Answers of the node that hold no logs of a block. */
let late = 0
/** Whether ranges of the node lack all logs. */
let isEmpty = false
/** Whether each header may hold everything, as those of busy chains do. */
let isBusy = false

const changed = (answer: string, change: object): string => JSON.stringify({ ...JSON.parse(answer), ...change })
const filled = (answer: string): string => {
  const { result } = JSON.parse(answer) as { result: object | null }
  return changed(answer, { result: result && { ...result, logsBloom: `0x${'ff'.repeat(256)}` } })
}

beforeAll(async () => {
  world = await startHubWorld()
  proxy = await startRpcProxy(world.anvil.rpcUrl, async (method, body) => {
    if (method === 'eth_getLogs' && body.includes('blockHash') && late > 0) {
      late -= 1
      return (answer) => changed(answer, { result: [] })
    }
    if (method === 'eth_getLogs' && body.includes('fromBlock') && isEmpty)
      return (answer) => changed(answer, { result: [] })
    if (method === 'eth_getLogs' && !body.includes('address') && isBusy)
      return (answer) => changed(answer, { result: [{ address: `0x${'77'.repeat(20)}`, topics: [] }] })
    return method.startsWith('eth_getBlockBy') && isBusy ? filled : undefined
  })
  await world.test.mine({ blocks: 3 })
})
afterAll(async () => {
  await proxy?.stop()
  await world?.stop()
})
afterEach(() => {
  late = 0
  isEmpty = false
  isBusy = false
})

async function settle(indexer: ChainIndexer): Promise<void> {
  for (let i = 0; i < 20; i++) if ((await indexer.step()).kind === 'idle') return
  throw new Error(`the indexer does not come to rest: ${JSON.stringify(indexer.state)}`)
}
const open = (rpcUrls = [proxy.url]) => world.restart({ config: { rpcUrls } })
const won = async (name: string) =>
  (await world.pool.query('SELECT FROM names WHERE name = $1 AND outcome = 1', [name])).rowCount

it('a node whose blocks are full of others’ logs goes through those without logs of ours', async () => {
  const indexer = await open()
  await settle(indexer)
  isBusy = true
  await world.test.mine({ blocks: 4 })
  await settle(indexer)
  // in ranges, too
  await world.test.mine({ blocks: 100 })
  await settle(indexer)
  expect(indexer.state.latest).toBe(Number(await world.public.getBlockNumber({ cacheTime: 0 })))
})

it.each([
  ['the only node', () => [proxy.url]],
  ['one of two nodes', () => [proxy.url, world.anvil.rpcUrl]],
])('a bid that %s indexes after its block was read is not lost', async (of, urls) => {
  const name = of.replaceAll(' ', '-')
  const indexer = await open(urls())
  await settle(indexer)
  // of two, one that never learns it
  late = urls().length === 1 ? 2 : 100
  await world.bid(0, [name])
  const read = () =>
    settle(indexer).then(
      () => true,
      () => false,
    )
  await expect.poll(read).toBe(true)
  await world.test.mine({ blocks: 3 })
  await expect.poll(() => read().then(() => won(name))).toBe(1)
})

describe('logs that a node leaves out of old blocks', () => {
  const OLD = 700
  const LEFT_OUT = 'contradict each other'
  /** An indexer behind a bid that its first node leaves out. */
  async function behind(name: string, others: readonly string[]): Promise<ChainIndexer> {
    const indexer = await open([proxy.url, ...others])
    await settle(indexer)
    await world.bid(0, [name])
    await world.test.mine({ blocks: OLD })
    isEmpty = true
    return indexer
  }

  it('are waited for while the other node has them', async () => {
    const indexer = await behind('doubtful', [world.anvil.rpcUrl])
    await expect(settle(indexer)).rejects.toThrow(LEFT_OUT)
    expect(indexer.state.lastError).toContain(LEFT_OUT)
    expect(await won('doubtful')).toBe(0)
    isEmpty = false
    await settle(indexer)
    expect(await won('doubtful')).toBe(1)
  })

  it.each([
    ['takes but few blocks', 10, 400],
    ['takes more', 520, 700],
  ])('are those of two others, of which one %s', async (_, widest, blocks) => {
    const narrow = await startRpcProxy(world.anvil.rpcUrl, async (method, body) => {
      if (method !== 'eth_getLogs' || !body.includes('fromBlock')) return undefined
      const [{ fromBlock, toBlock }] = (JSON.parse(body) as { params: [Record<string, string>] }).params
      if (Number(toBlock) - Number(fromBlock) < widest) return undefined
      const error = { code: -32602, message: `eth_getLogs is limited to ${widest} block range.` }
      return (answer) => changed(answer, { result: undefined, error })
    })
    try {
      const from = Number(await world.public.getBlockNumber({ cacheTime: 0 })) + 1
      await world.bid(1, [`narrow-${widest}`])
      await world.test.mine({ blocks })
      const { chain } = await world.open({ rpcUrls: [proxy.url, narrow.url, world.anvil.rpcUrl] })
      isEmpty = true
      const ranges = await fetchRange({ chain, width: createRangeWidth() }, from, from + blocks)
      expect(ranges.flatMap(({ decoded }) => decoded.entries)).toHaveLength(1)
    } finally {
      await narrow.stop()
    }
  })
})
