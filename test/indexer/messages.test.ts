import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RawLog } from '../../src/chains/evm/logs.js'
import { type BridgeWorld, startBridgeWorld } from '../support/bridgeWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'

/** More blocks than are checked against their headers, and than are followed one by one. */
const MANY_BLOCKS = 700

let world: BridgeWorld
let proxy: Awaited<ReturnType<typeof startRpcProxy>>
/** Places of the logs that the spoke's node leaves out of ranges, counted from the first message. */
let missing: readonly number[] = []
let guids: string[] = []

/**
 * Answers as of a node with a half-indexed range: logs are missing from ranges, and present in single blocks.
 */
const leaveOut = (answer: string): string => {
  const { result, ...rest } = JSON.parse(answer) as { result: RawLog[] }
  const isRange = new Set(result.map(({ blockNumber }) => blockNumber)).size > 1
  const isGone = ({ topics, data }: RawLog) =>
    missing.some((i) => [...topics, data].some((words) => words.startsWith(guids[i]!)))
  return JSON.stringify({ ...rest, result: isRange ? result.filter((log) => !isGone(log)) : result })
}

beforeAll(async () => {
  world = await startBridgeWorld()
  proxy = await startRpcProxy(world.spoke.anvil.rpcUrl, async (method) =>
    method === 'eth_getLogs' ? leaveOut : undefined,
  )
})
afterAll(async () => {
  await proxy.stop()
  await world.stop()
})

const stored = async (): Promise<string[]> => {
  const { rows } = await world.pool.query<{ guid: Buffer }>(
    'SELECT guid FROM messages WHERE confirmed ORDER BY block, log_index',
  )
  return rows.map(({ guid }) => `0x${guid.toString('hex')}`)
}

it('a message that a node leaves out of old blocks is found by its number', async () => {
  // the messages come first, without an index, then enough blocks to make theirs old
  const { index } = world
  world.index = async () => {}
  for (let i = 0; i < 6; i++) guids.push(await world.send(i, [`m${i}`]))
  await world.spoke.test.mine({ blocks: MANY_BLOCKS })
  world.index = index
  const file = world.file as { chains: { rpcUrls: string[] }[] }
  file.chains[1]!.rpcUrls = [proxy.url]
  missing = [0, 2, 3]
  await world.index()
  expect(await stored()).toEqual(guids)
})

it('one that was left out at the end of a range is found when the next comes', async () => {
  const { index } = world
  world.index = async () => {}
  guids = [...guids, await world.send(0, ['late']), await world.send(1, ['late-2'])]
  await world.spoke.test.mine({ blocks: MANY_BLOCKS })
  missing = [7]
  await index()
  expect(await stored()).toEqual(guids.slice(0, 7))
  guids.push(await world.send(2, ['latest']))
  await index()
  expect(await stored()).toEqual(guids)
})
