import { expect, it } from 'vitest'
import type { OnCall } from '../support/rpcProxy.js'
import { failing, useSilentNodes } from './silentNodes.js'

/** Nodes with limits that no smaller question avoids. */

const { world, node, open, drive, journalled, onChain, head, confirmed, pruned } = useSilentNodes()

it.each(['first', 'second'])(
  'the %s of two nodes that finds the logs of one block too much is named, with its remedy',
  async (place) => {
    let isLimited = false
    const limited = await node(async (method) =>
      isLimited && method === 'eth_getLogs'
        ? failing(-32_005, 'query returned more than 10000 results')
        : undefined,
    )
    const other = await node(async () => undefined)
    const lone = await open({ rpcUrls: place === 'first' ? [limited, other] : [other, limited] })
    expect(await drive(lone, 40)).toEqual([])
    isLimited = true
    await world.bid(1, [`limited-${place}`])
    await world.test.mine({ blocks: 3 })

    expect(await drive(lone, 2)).not.toEqual([])
    expect(lone.indexer.state).toMatchObject({
      errorAlarm: 'ClusterdRpcSilent',
      lastError: expect.stringContaining(
        `${new URL(limited).host} (eth_getLogs: query returned more than 10000 results: raise the node's limit for answers, or replace its URL) did not`,
      ),
    })
    // new blocks are shown as unconfirmed meanwhile
    expect(lone.indexer.state.tailBlock).toBe(await head())

    isLimited = false
    await expect.poll(() => drive(lone, 3), { timeout: 10_000 }).toEqual([])
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
    expect(lone.indexer.state).toMatchObject({ lastError: null, errorAlarm: null })
  },
)

it('a single block that is too much for the only node in a catch-up is named, with the remedy', async () => {
  const limited = await node(async (method, body) =>
    method === 'eth_getLogs' && !body.includes('blockHash')
      ? failing(-32_005, 'query returned more than 10000 results')
      : undefined,
  )
  await world.test.mine({ blocks: 70 })
  const lone = await open({ rpcUrls: [limited] })
  expect(await drive(lone, 1)).not.toEqual([])
  expect(lone.indexer.state.lastError).toMatch(
    /^getting logs of blocks (\d+)-\1: .*: raise the node's limit for answers, or replace its URL$/,
  )
})

it('nodes that keep only the newest block’s state prove a gap that failed steps make the indexer read in parts', async () => {
  let isFailing = false
  const keeps = pruned(1)
  const faltering: OnCall = async (method, body) =>
    isFailing && method === 'eth_getLogs' ? failing(-32_603, 'Internal error') : keeps(method, body)
  const lone = await open({ rpcUrls: [await node(faltering), await node(faltering)] })
  expect(await drive(lone, 40)).toEqual([])
  await lone.indexer.step()
  const from = lone.indexer.state.nextBlock
  await world.bid(2, ['in-a-gap'])
  await world.test.mine({ blocks: 40 })
  // followed block by block
  expect((await head()) - from).toBeLessThan(64)
  isFailing = true
  expect(await drive(lone, 3)).toHaveLength(3)
  isFailing = false
  expect(await drive(lone)).toEqual([])
  expect(lone.indexer.state).toMatchObject({
    nextBlock: (await confirmed()) + 1,
    trust: 'proved',
    lastError: null,
  })
  expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
})
