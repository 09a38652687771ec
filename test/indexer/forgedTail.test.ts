import { type Hex, toHex } from 'viem'
import { expect, it } from 'vitest'
import type { RawLog } from '../../src/chains/evm/logs.js'
import type { OnCall } from '../support/rpcProxy.js'
import { answering, failing, useSilentNodes } from './silentNodes.js'

/** A tail that was read from a liar while no other node answered. */

const { world, node, open, drive, journalled, onChain, head, confirmed } = useSilentNodes()

it('a log that nobody emitted is dropped from the tail once two nodes have its block without it', async () => {
  const lie = { block: -1 }
  const liar: OnCall = async (method) =>
    method === 'eth_getLogs'
      ? answering(({ result }) => {
          const logs = result as RawLog[]
          const log = logs.find(({ blockNumber }) => Number(blockNumber) === lie.block)
          return { result: log ? [...logs, { ...log, logIndex: toHex(500) as Hex }] : logs }
        })
      : undefined
  let isAway = false
  const honest: OnCall = async () => (isAway ? failing(-32_603, 'Internal error') : undefined)
  const rpcUrls = [await node(honest), await node(honest), await node(liar)]
  // without a record two nodes have to give equal logs
  const lone = await open({ rpcUrls, trust: 'compared' })
  await drive(lone, 40)

  isAway = true
  await world.bid(0, ['emitted-once'])
  lie.block = await head()
  await world.test.mine({ blocks: 3 })
  await drive(lone, 4)
  const facts = () => lone.pool.query('SELECT FROM facts WHERE kind = 1')
  expect((await facts()).rowCount).toBe(2)
  expect(await journalled(lone)).toEqual(await onChain(lone.indexer.state.nextBlock - 1))

  isAway = false
  const left = async () =>
    (await drive(lone, 3)).length + (await confirmed()) + 1 - lone.indexer.state.nextBlock
  await expect.poll(left, { timeout: 10_000 }).toBe(0)
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  expect((await facts()).rowCount).toBe(0)
})
