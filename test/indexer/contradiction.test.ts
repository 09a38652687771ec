import { type Hex, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import type { LoneIndexer } from '../faults/support.js'
import type { OnCall } from '../support/rpcProxy.js'
import { answering, useSilentNodes } from './silentNodes.js'

/** A node that contradicts the others must not change anything in a hub's journal. */

/** More than are followed one by one. */
const GAP = 70

const { world, node, open, drive, journalled, logsTo, onChain, head, confirmed, pruned, made } =
  useSilentNodes()

describe('a first node that is on another fork', () => {
  const OTHER = `0x${'ab'.repeat(32)}`

  /** A node that gives a block another hash, in every answer. */
  const forked =
    (lie: { hash: string | null }): OnCall =>
    async (_, body) => {
      const { hash } = lie
      if (!hash) return undefined
      const headers = { 'content-type': 'application/json' }
      const asked = { method: 'POST', headers, body: body.replaceAll(OTHER, hash) }
      const given = await (await fetch(world.anvil.rpcUrl, asked)).text()
      return () => given.replaceAll(hash, OTHER)
    }

  const cursor = async ({ pool }: LoneIndexer): Promise<string> => {
    const { rows } = await pool.query(
      `SELECT next_block - 1 AS block, '0x' || encode(parent_hash, 'hex') AS hash FROM chains`,
    )
    const { hash } = await world.public.getBlock({ blockNumber: BigInt(rows[0].block) })
    return rows[0].hash === null || rows[0].hash === hash ? 'on the chain' : rows[0].hash
  }

  it.each([
    ['live', 3],
    ['in a catch-up', GAP],
  ])('decides nothing beside a node that contradicts it, however long, %s', async (_, blocks) => {
    const lie: { hash: string | null } = { hash: null }
    const url = await node(forked(lie))
    const lone = await open({ rpcUrls: [url, world.anvil.rpcUrl] })
    await drive(lone, 40)
    await world.bid(0, [`fork-${made()}`])
    await world.test.mine({ blocks })
    lie.hash = (await world.public.getBlock({ blockNumber: BigInt(await confirmed()) })).hash
    await drive(lone, 6)
    expect(await cursor(lone)).toBe('on the chain')
    expect(lone.indexer.state.lastError).toMatch(/contradict|another fork/)
    lie.hash = null
    const left = async () =>
      (await drive(lone, 3)).length + (await confirmed()) + 1 - lone.indexer.state.nextBlock
    await expect.poll(left, { timeout: 10_000 }).toBe(0)
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  })

  it.each([
    ['live', 3],
    ['in a catch-up', GAP],
  ])('does not delay two others, %s', async (_, blocks) => {
    const lie: { hash: string | null } = { hash: null }
    const honest = await node(async () => undefined)
    const lone = await open({ rpcUrls: [await node(forked(lie)), honest, world.anvil.rpcUrl] })
    await drive(lone, 40)
    await world.bid(0, [`fork-${made()}`])
    await world.test.mine({ blocks })
    lie.hash = (await world.public.getBlock({ blockNumber: BigInt(await confirmed()) })).hash
    await drive(lone, 10)
    expect(lone.indexer.state.nextBlock).toBe((await confirmed()) + 1)
    expect(await cursor(lone)).toBe('on the chain')
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  })

  it('gives its hash to no cursor where nodes have only the newest state', async () => {
    const lie: { hash: string | null } = { hash: null }
    const keeps = pruned(1)
    const lies = forked(lie)
    const first = await node(
      async (method, body) =>
        (await keeps(method, body.replaceAll(OTHER, lie.hash ?? OTHER))) ?? lies(method, body),
    )
    const lone = await open({ rpcUrls: [first, await node(keeps)] })
    await drive(lone, 40)
    await world.test.mine({ blocks: 3 })
    lie.hash = (await world.public.getBlock({ blockNumber: BigInt(await confirmed()) })).hash
    await drive(lone, 4)
    expect(await cursor(lone)).toBe('on the chain')
  })
})

describe('a first node that moves a bid to the next block', () => {
  /** Blocks whose state nodes keep. */
  const NEWEST = 1
  const ALL = 1_000_000

  /** A node that moves all logs of a block to the next one, with the same time. */
  const mover =
    (lie: { block: number }, kept: number): OnCall =>
    async (method, body) => {
      if (method !== 'eth_getLogs') return pruned(kept)(method, body)
      const [filter] = (JSON.parse(body) as { params: [Record<string, Hex>] }).params
      if (lie.block < 0 || !filter.fromBlock) return undefined
      const { number, hash } = await world.public.getBlock({ blockNumber: BigInt(lie.block + 1) })
      const moved = (await logsTo(await head())).map((log) =>
        Number(log.blockNumber) === lie.block
          ? { ...log, blockNumber: toHex(number), blockHash: hash }
          : log,
      )
      const result = moved.filter(
        ({ blockNumber }) =>
          Number(blockNumber) >= Number(filter.fromBlock) &&
          Number(blockNumber) <= Number(filter.toBlock),
      )
      return answering(() => ({ result }))
    }

  it.each([
    ['beside one other', 1, 0, ALL],
    ['beside two others', 2, 0, ALL],
    ['beside one other, where no node has old state', 1, 0, NEWEST],
    ['beside one other, behind the confirmed blocks, where no node has old state', 1, 1, NEWEST],
    ['beside two others, where no node has old state', 2, 0, NEWEST],
    ['beside two others, behind the confirmed blocks, where no node has old state', 2, 1, NEWEST],
  ])('moves nothing, %s', async (_, others, isLast, kept) => {
    const lie = { block: -1 }
    await world.test.mine({ blocks: GAP })
    await world.bid(1, [`moved-${made()}`])
    lie.block = await head()
    await world.test.mine({ blocks: isLast ? 2 : GAP })
    const urls = [await node(mover(lie, kept))]
    for (let i = 0; i < others; i++) urls.push(await node(pruned(kept)))
    const lone = await open({ rpcUrls: urls })
    await drive(lone, 3)
    expect(await journalled(lone)).toEqual(await onChain(lone.indexer.state.nextBlock - 1))
    if (others === 1) lie.block = -1
    const left = async () =>
      (await drive(lone, 6)).length + (await confirmed()) + 1 - lone.indexer.state.nextBlock
    await expect.poll(left, { timeout: 10_000 }).toBe(0)
    expect(await journalled(lone)).toEqual(await onChain(await confirmed()))
  })
})
