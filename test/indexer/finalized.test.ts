import { beforeAll, describe, expect, it } from 'vitest'
import { readChainHeads } from '../../src/chains/evm/chain.js'
import type { ChainIndexer } from '../../src/indexer/evm/chainIndexer.js'
import { startHubWorld } from '../support/hubWorld.js'
import { useWorld } from '../support/useWorld.js'

/** Another depth than that of `{ blocks: 2 }`, which all other tests have. */
const SLOTS_IN_AN_EPOCH = 2

const world = useWorld(() => startHubWorld({ slotsInAnEpoch: SLOTS_IN_AN_EPOCH }))
let indexer: ChainIndexer
beforeAll(async () => {
  // the chain is older than its depth
  await world.test.mine({ blocks: 4 * SLOTS_IN_AN_EPOCH })
  indexer = await world.restart({ config: { confirmation: { kind: 'tag', tag: 'finalized' } } })
  await catchUp()
})

async function catchUp(at = indexer): Promise<void> {
  for (let i = 0; i < 20; i++) if ((await at.step()).kind === 'idle') return
  throw new Error('the indexer does not come to rest')
}

const finalized = async () =>
  Number((await world.public.getBlock({ blockTag: 'finalized' })).number)
const head = async () => Number(await world.public.getBlockNumber({ cacheTime: 0 }))
const namesIn = async (sql: string) =>
  (await world.pool.query<{ name: string }>(sql)).rows.map(({ name }) => name).sort()
const pending = () => namesIn('SELECT name FROM facts WHERE kind = 1')
const won = () => namesIn('SELECT name FROM names WHERE outcome = 1')
const ownerOf = async (name: string) => {
  const { rows } = await world.pool.query<{ actor: Buffer }>(
    'SELECT j.actor FROM names n JOIN journal j USING (network, seq) WHERE n.name = $1 AND n.outcome = 1',
    [name],
  )
  return rows[0] && `0x${rows[0].actor.toString('hex', 1)}`
}

describe('a hub whose policy is `finalized`', () => {
  it('keeps a bid pending block by block, until the chain has finalized its block', async () => {
    await world.bid(0, ['waits'])
    const block = await head()
    let blocksAbove = 0
    while ((await finalized()) < block) {
      await catchUp()
      expect(await pending()).toEqual(['waits'])
      expect(await won()).toEqual([])
      await world.test.mine({ blocks: 1 })
      blocksAbove += 1
    }
    expect(blocksAbove).toBe(2 * SLOTS_IN_AN_EPOCH)
    await catchUp()
    expect(await pending()).toEqual([])
    expect(await won()).toEqual(['waits'])
  })

  it('backfills up to the finalized block, and keeps blocks above it pending', async () => {
    await world.bid(0, ['deep'])
    await world.test.mine({ blocks: 100 })
    await world.bid(0, ['shallow'])
    indexer = await world.restart({ config: { confirmation: { kind: 'tag', tag: 'finalized' } } })
    await catchUp()
    expect(await won()).toEqual(['deep', 'waits'])
    expect(await pending()).toEqual(['shallow'])
  })

  it('follows the deepest reorg that leaves the finalized block: the name is the new branch’s', async () => {
    await world.test.mine({ blocks: 2 * SLOTS_IN_AN_EPOCH })
    await catchUp()
    const fork = await world.test.snapshot()
    await world.bid(1, ['forked'])
    await world.test.mine({ blocks: 2 * SLOTS_IN_AN_EPOCH - 1 })
    await catchUp()
    expect(await pending()).toEqual(['forked'])
    await world.test.revert({ id: fork })
    await world.bid(2, ['forked'])
    await world.test.mine({ blocks: 2 * SLOTS_IN_AN_EPOCH })
    await catchUp()
    expect(indexer.state.halted).toBeNull()
    expect(await ownerOf('forked')).toBe(world.wallet(2).address.toLowerCase())
  })

  it('halts where a finalized block is replaced', async () => {
    const fork = await world.test.snapshot()
    await world.bid(3, ['gone'])
    await world.test.mine({ blocks: 2 * SLOTS_IN_AN_EPOCH })
    await catchUp()
    expect(await ownerOf('gone')).toBe(world.wallet(3).address.toLowerCase())
    await world.test.revert({ id: fork })
    await world.test.mine({ blocks: 4 * SLOTS_IN_AN_EPOCH })
    expect(await indexer.step()).toMatchObject({ kind: 'halted' })
  })
})

describe('a chain whose policy is `safe`', () => {
  it('confirms a bid with the safe block, one epoch before it is finalized', async () => {
    const chain = await startHubWorld({ slotsInAnEpoch: SLOTS_IN_AN_EPOCH })
    try {
      await chain.test.mine({ blocks: 4 * SLOTS_IN_AN_EPOCH })
      const safe = await chain.restart({ config: { confirmation: { kind: 'tag', tag: 'safe' } } })
      const tagged = async (blockTag: 'safe' | 'finalized') =>
        (await chain.public.getBlock({ blockTag })).number
      const bids = async () =>
        (await chain.pool.query('SELECT 1 FROM names WHERE outcome = 1')).rowCount
      await chain.bid(0, ['posted'])
      const block = await chain.public.getBlockNumber({ cacheTime: 0 })
      while ((await tagged('safe')) < block) {
        await catchUp(safe)
        expect(await bids()).toBe(0)
        await chain.test.mine({ blocks: 1 })
      }
      await catchUp(safe)
      expect(await bids()).toBe(1)
      expect(await tagged('finalized')).toBeLessThan(block)
      expect(safe.state.confirmedMs).toBe(
        Number((await chain.public.getBlock({ blockTag: 'safe' })).timestamp) * 1_000,
      )
    } finally {
      await chain.stop()
    }
  })
})

describe('a chain that has finalized nothing yet', () => {
  it('has no confirmed block', async () => {
    const latest = {
      number: '0x5',
      hash: '0x5b',
      parentHash: '0x5a',
      timestamp: '0x1',
      logsBloom: '0x',
    }
    const call = async <T>(_method: string, params: unknown) =>
      ((params as unknown[])[0] === 'latest' ? latest : null) as T
    expect(
      await readChainHeads(call, { confirmation: { kind: 'tag', tag: 'finalized' } }),
    ).toMatchObject({
      latest: { number: 5 },
      confirmed: -1,
    })
  })
})
