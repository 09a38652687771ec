import { afterEach, describe, expect, it } from 'vitest'
import { mergeDecodedLogs } from '../../src/chains/evm/decodeLogs.js'
import { logRangeSource, readBlocksInRanges } from '../../src/chains/evm/runningHash/ranges.js'
import { createLogRangeWidth } from '../../src/chains/evm/runningHash/width.js'
import { indexerOver, type LoneIndexer } from '../faults/support.js'
import { startHubWorld } from '../support/hubWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'

/** More than are followed one by one. */
const MANY_BLOCKS = 100
const OTHER = `0x${'77'.repeat(32)}`

type Result = Record<string, unknown>

const world = useWorld(() => startHubWorld())
const proxy = useWorld(() =>
  startRpcProxy(world.anvil.rpcUrl, async (method, body) => (answer) => {
    const given = JSON.parse(answer) as { result: (Result & Result[]) | null }
    const { params } = JSON.parse(body) as { params: Result[] }
    if (!alter || !given.result) return answer
    const result = alter(method, given.result, params)
    return JSON.stringify(
      result instanceof Error
        ? { ...given, result: undefined, error: result }
        : { ...given, result },
    )
  }),
)
/** Changes a node's answers, so that it seems to switch forks between two of them. */
let alter: ((method: string, result: Result & Result[], params: Result[]) => unknown) | null = null

let lone: LoneIndexer | null = null
afterEach(() => {
  alter = null
  lone = null
})

const head = async (): Promise<number> =>
  Number(await world.public.getBlockNumber({ cacheTime: 0 }))
const hashOf = async (block: number) =>
  (await world.public.getBlock({ blockNumber: BigInt(block) })).hash
const open = () => world.restart({ config: { rpcUrls: [proxy.url] } })
const nextBlock = async () =>
  Number((await world.pool.query('SELECT next_block FROM chains')).rows[0].next_block)

/** A node that has another block at a height, or one with another parent. */
function fork(block: number, field: 'hash' | 'parentHash'): void {
  alter = (method, result) =>
    method === 'eth_getBlockByNumber' && Number(result.number) === block
      ? { ...result, [field]: OTHER }
      : result
}

/** Bids in three blocks of their own, read as one range. */
async function bidsInRange(name: string) {
  const from = (await head()) + 1
  for (let i = 0; i < 3; i++) await world.bid(i, [`${name}-${i}`])
  const { chain } = await world.open({ rpcUrls: [proxy.url] })
  const read = () =>
    readBlocksInRanges(logRangeSource(chain, createLogRangeWidth()), from, from + 2).then(
      (ranges) => ranges.map(({ answer }) => answer),
    )
  return { from, read }
}

describe('a node that changes its fork', () => {
  it('between two headers of the tail is refused', async () => {
    const indexer = await open()
    while ((await indexer.step()).kind !== 'idle');
    await world.test.mine({ blocks: 4 })
    const top = await head()
    fork(top - 2, 'hash')
    await expect(indexer.step()).rejects.toThrow('changed its fork meanwhile')
    alter = null
    while ((await indexer.step()).kind !== 'idle');
    const { rows } =
      await world.pool.query(`SELECT '0x' || encode(hash, 'hex') AS hash FROM tail_blocks
      WHERE block > ${top - 4} ORDER BY block`)
    expect(rows.map(({ hash }) => hash)).toEqual(
      await Promise.all([3, 2, 1, 0].map((below) => hashOf(top - below))),
    )
  })

  it('between two ranges adds nothing of the second', async () => {
    const indexer = await open()
    while ((await indexer.step()).kind !== 'idle');
    await world.test.mine({ blocks: MANY_BLOCKS })
    const second = (await nextBlock()) + createLogRangeWidth().blocks
    fork(second, 'parentHash')
    await expect(indexer.step()).rejects.toThrow('a node answered from another fork')
    expect(await nextBlock()).toBe(second)
    alter = null
    while ((await indexer.step()).kind !== 'idle');
    expect(await nextBlock()).toBe((await head()) - 1)
  })
})

it('a range gives the same logs when read in parts', async () => {
  const { from, read } = await bidsInRange('parts')
  const [whole] = await read()
  expect(whole!.decoded.entries).toHaveLength(3)
  const hashes = await Promise.all([-1, 0, 1, 2].map((i) => hashOf(from + i)))
  alter = (method, result, [filter]) =>
    method === 'eth_getLogs' && filter!.fromBlock !== filter!.toBlock
      ? Object.assign(new Error(), {
          code: -32005,
          message: 'query returned more than 10000 results',
        })
      : result
  const parts = await read()
  expect(mergeDecodedLogs(parts.map(({ decoded }) => decoded))).toEqual(whole!.decoded)
  const ends = [parts[0]!.parentHash, ...parts.map(({ lastHash }) => lastHash)]
  expect(ends.map((hash) => `0x${hash.toString('hex')}`)).toEqual(hashes)
})

it('a cursor that is found replaced by the ranges after it halts the chain', async () => {
  const indexer = await open()
  const snapshot = await world.test.snapshot()
  await world.test.mine({ blocks: 4 })
  while ((await indexer.step()).kind !== 'idle');
  await world.test.revert({ id: snapshot })
  await world.test.mine({ blocks: MANY_BLOCKS, interval: 2 })
  expect(await indexer.step()).toMatchObject({
    kind: 'halted',
    reason: expect.stringContaining('has been replaced'),
  })
})

it.each([
  ['takes but few blocks', 10, 400],
  ['takes more', 520, 700],
])(
  'logs that a node leaves out are those of two others, of which one %s',
  async (_, widest, blocks) => {
    const narrow = await startRpcProxy(world.anvil.rpcUrl, async (method, body) => {
      if (method !== 'eth_getLogs' || !body.includes('fromBlock')) return undefined
      const [{ fromBlock, toBlock }] = (JSON.parse(body) as { params: [Record<string, string>] })
        .params
      if (Number(toBlock) - Number(fromBlock) < widest) return undefined
      const error = { code: -32602, message: `eth_getLogs is limited to ${widest} block range.` }
      return (answer) => JSON.stringify({ ...JSON.parse(answer), result: undefined, error })
    })
    try {
      const rpcUrls = [proxy.url, narrow.url, world.anvil.rpcUrl]
      const startBlock = (await head()) - 2
      lone = await indexerOver(world, `narrow_${widest}`, { rpcUrls, startBlock, local: true })
      await world.bid(1, [`narrow-${widest}`])
      await world.test.mine({ blocks })
      alter = (method, result) => (method === 'eth_getLogs' ? [] : result)
      await lone.drive((await head()) - 2)
      const entries = "SELECT FROM journal WHERE block IS NOT NULL AND encode(body, 'hex') LIKE $1"
      const word = Buffer.from(`narrow-${widest}`).toString('hex')
      expect((await lone.pool.query(entries, [`%${word}%`])).rowCount).toBe(1)
      expect(lone.indexer.state).toMatchObject({ trust: 'proved', trustNodes: 2 })
    } finally {
      await lone?.stop()
      await narrow.stop()
    }
  },
)
