import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { ChainIndexer } from '../../src/indexer/evm/chainIndexer.js'
import { fetchRange } from '../../src/indexer/evm/fetchRange.js'
import { createRangeWidth } from '../../src/indexer/evm/width.js'
import { type HubWorld, startHubWorld } from '../support/hubWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'

/** What nodes and providers say of a method that they lack. */
const LACKING = [
  { code: -32601, message: 'the method eth_getBlockReceipts does not exist/is not available' },
  { code: -32600, message: 'Unsupported method: eth_getBlockReceipts on CHAIN. See available methods at …' },
  { code: -32000, message: 'rpc method is not whitelisted' },
]

let world: HubWorld
let proxy: Awaited<ReturnType<typeof startRpcProxy>>
/** Times that the node shows blocks without their logs. */
let late = 0
let lacking: object | undefined
/** Logs of an answer, at most: more are left out without a word. */
let most = Number.POSITIVE_INFINITY
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
    if (method === 'eth_getBlockReceipts' && lacking)
      return (answer) => changed(answer, { result: undefined, error: lacking })
    if (method === 'eth_getLogs' && body.includes('blockHash') && late > 0) {
      late -= 1
      return (answer) => changed(answer, { result: [] })
    }
    if (method === 'eth_getLogs' && most < Number.POSITIVE_INFINITY)
      return (answer) => changed(answer, { result: (JSON.parse(answer) as { result: object[] }).result.slice(0, most) })
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
  most = Number.POSITIVE_INFINITY
  lacking = undefined
  isBusy = false
})

async function settle(indexer: ChainIndexer): Promise<void> {
  for (let i = 0; i < 20; i++) if ((await indexer.step()).kind === 'idle') return
  throw new Error(`the indexer does not come to rest: ${JSON.stringify(indexer.state)}`)
}
const open = (rpcUrls = [proxy.url]) => world.restart({ config: { rpcUrls } })
const won = async (name: string) =>
  (await world.pool.query('SELECT FROM names WHERE name = $1 AND outcome = 1', [name])).rowCount

it.each(LACKING)(
  'a node without receipts of blocks goes through those without logs of ours: $message',
  async (error) => {
    const indexer = await open()
    await settle(indexer)
    lacking = error
    isBusy = true
    await world.test.mine({ blocks: 4 })
    await settle(indexer)
    // in ranges, too
    await world.test.mine({ blocks: 100 })
    await settle(indexer)
    expect(indexer.state.latest).toBe(Number(await world.public.getBlockNumber({ cacheTime: 0 })))
  },
)

it.each([
  ['the only node', () => [proxy.url]],
  ['one of two nodes', () => [proxy.url, world.anvil.rpcUrl]],
])('a bid that %s indexes after its block was read is not lost', async (of, urls) => {
  const name = of.replaceAll(' ', '-')
  const indexer = await open(urls())
  await settle(indexer)
  lacking = { code: -32601, message: 'method not found' }
  // of two, one that never learns it
  late = urls().length === 1 ? 1 : 100
  await world.bid(0, [name])
  await settle(indexer)
  await world.test.mine({ blocks: 3 })
  await settle(indexer)
  expect(await won(name)).toBe(1)
})

/** Bids for names of a series, some per block. */
async function series(name: string, blocks: number, each: number): Promise<string[]> {
  const names = Array.from({ length: blocks * each }, (_, i) => `${name}-${i}`)
  for (let n = 0; n < blocks; n++) await world.bid(n % 5, names.slice(n * each, (n + 1) * each))
  return names
}

async function lostOf(names: readonly string[]): Promise<string[]> {
  const { rows } = await world.pool.query<{ name: string }>('SELECT name FROM names WHERE outcome = 1')
  const known = new Set(rows.map(({ name }) => name))
  return names.filter((name) => !known.has(name))
}

it.each([
  ['the newest blocks, in the middle of one', 70, 3, 30],
  ['old blocks, between two', 700, 3, 25],
])('what a node cuts off its logs of %s is read', async (_, blocksAfter, blocks, each) => {
  const indexer = await open()
  await settle(indexer)
  const names = await series(`cut-${blocksAfter}`, blocks, each)
  await world.test.mine({ blocks: blocksAfter })
  most = 50
  await settle(indexer)
  expect(await lostOf(names)).toEqual([])
})

it.each([
  ['one that takes smaller ranges', 520, 700, []],
  ['a third where the second takes but few blocks', 10, 400, [() => world.anvil.rpcUrl]],
])('logs that a node lacks are found by comparing it with %s', async (_, widest, blocks, others) => {
  const narrow = await startRpcProxy(world.anvil.rpcUrl, async (method, body) => {
    if (method !== 'eth_getLogs' || !body.includes('fromBlock')) return undefined
    const [{ fromBlock, toBlock }] = (JSON.parse(body) as { params: [Record<string, string>] }).params
    if (Number(toBlock) - Number(fromBlock) < widest) return undefined
    const error = { code: -32602, message: `eth_getLogs is limited to ${widest} block range.` }
    return (answer) => changed(answer, { result: undefined, error })
  })
  try {
    const from = Number(await world.public.getBlockNumber({ cacheTime: 0 })) + 1
    await series(`narrow-${widest}`, 1, 3)
    const to = from + blocks
    await world.test.mine({ blocks: to - from })
    const { chain } = await world.open({ rpcUrls: [proxy.url, narrow.url, ...others.map((url) => url())] })
    most = 0
    const { decoded } = await fetchRange({ chain, width: createRangeWidth(), checkFrom: to + 1 }, from, to)
    expect(decoded.entries).toHaveLength(3)
  } finally {
    await narrow.stop()
  }
})
