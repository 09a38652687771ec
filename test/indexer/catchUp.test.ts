import { afterEach, describe, expect, it } from 'vitest'
import type { ChainConfig } from '../../src/config/index.js'
import { MAX_BLOCKS_FOLLOWED_SINGLY } from '../../src/indexer/evm/chainIndexer.js'
import { indexerOver, type LoneIndexer } from '../faults/support.js'
import { startHubWorld } from '../support/hubWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'

/** More than are followed one by one. */
const MANY_BLOCKS = 100
const AGE_S = 3_600

const world = useWorld(() => startHubWorld({ ageS: AGE_S }))
let lone: LoneIndexer
const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const head = async (): Promise<number> =>
  Number(await world.public.getBlockNumber({ cacheTime: 0 }))

async function open(database: string, changes: Partial<ChainConfig>): Promise<void> {
  lone = await indexerOver(world, database, {
    watchOnly: { minimum: [], quotes: false },
    ...changes,
  })
  ends.push(() => lone.stop())
}

/** True once the first catch-up has ended, so that signed changes are accepted. */
async function isCaughtUp(): Promise<boolean> {
  const { rows } = await lone.pool.query('SELECT caught_up FROM journal_heads WHERE network = 0')
  return rows[0].caught_up
}

async function steps(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await lone.indexer.step()
}

/** A node whose answers about one block tag are about another block. */
async function nodeAt(tag: string, block: () => number): Promise<string> {
  const proxy = await startRpcProxy(world.anvil.rpcUrl, async (_, body) =>
    body.includes(`"${tag}"`)
      ? { body: body.replace(`"${tag}"`, `"0x${block().toString(16)}"`) }
      : undefined,
  )
  ends.push(() => proxy.stop())
  return proxy.url
}

/** The answer of a node that reports a block 1,000 blocks after its newest. */
function withHigherNumber(text: string): string {
  const { result, ...answer } = JSON.parse(text) as { result: { number: string } }
  const number = `0x${(Number(result.number) + 1_000).toString(16)}`
  return JSON.stringify({ ...answer, result: { ...result, number } })
}

describe('the first catch-up continues', () => {
  it('while the chain has no confirmed block from the first one on', async () => {
    await world.test.mine({ blocks: 10 })
    const startBlock = (await head()) + 5
    await open('not_begun', { startBlock, local: true })
    await steps(3)
    expect(await isCaughtUp()).toBe(false)
    await world.test.mine({ blocks: 6 })
    await steps(3)
    expect(await isCaughtUp()).toBe(false)
    await world.test.mine({ blocks: 2 })
    await steps(3)
    expect(await isCaughtUp()).toBe(true)
  })

  it('while the node shows a head below the indexed blocks', async () => {
    await open('behind', { local: true, rpcUrls: [await nodeAt('latest', () => 0)], startBlock: 3 })
    await steps(3)
    expect(await isCaughtUp()).toBe(false)
  })

  it('while another node has many more blocks', async () => {
    await world.test.mine({ blocks: MANY_BLOCKS })
    let at = (await head()) - MANY_BLOCKS
    const syncing = await nodeAt('latest', () => at)
    const startBlock = at - 5
    await open('two_nodes', { local: true, rpcUrls: [syncing, world.anvil.rpcUrl], startBlock })
    let isEarly = false
    for (let i = 0; i < 20 && !(await isCaughtUp()); i++) {
      await lone.indexer.step()
      at = Math.min(await head(), at + 15)
      isEarly ||=
        (await isCaughtUp()) &&
        lone.indexer.state.nextBlock < (await head()) - 2 - MAX_BLOCKS_FOLLOWED_SINGLY
    }
    expect({ isEarly, isCaughtUp: await isCaughtUp() }).toEqual({
      isEarly: false,
      isCaughtUp: true,
    })
  })

  it('no longer than two of three nodes have more blocks', async () => {
    const liar = await startRpcProxy(world.anvil.rpcUrl, async (_, body) =>
      body.includes('"latest"') ? withHigherNumber : undefined,
    )
    ends.push(() => liar.stop())
    const { rpcUrl } = world.anvil
    const honest = await nodeAt('none', () => 0)
    await open('three_nodes', {
      local: true,
      rpcUrls: [rpcUrl, honest, liar.url],
      startBlock: (await head()) - 5,
    })
    await steps(5)
    expect(await isCaughtUp()).toBe(true)
  })

  it('while the newest block is old', async () => {
    await open('old_head', { startBlock: (await head()) - 5 })
    await steps(5)
    expect(lone.indexer.state).toMatchObject({ nextBlock: (await head()) - 1, isCaughtUp: false })
    await world.test.setNextBlockTimestamp({ timestamp: BigInt(Math.floor(Date.now() / 1_000)) })
    await world.test.mine({ blocks: 1 })
    await steps(2)
    expect(await isCaughtUp()).toBe(true)
  })
})
