import { describe, expect, it } from 'vitest'
import { findChain } from '../../src/db/chains/chains.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { rewindJournal } from '../../src/db/journal/rewind/index.js'
import type { RewindReport } from '../../src/db/journal/rewind/report.js'
import { checkRewindTarget } from '../../src/indexer/evm/rewindPoint.js'
import { fromHex, toHex } from '../../src/registry/primitives/bytes.js'
import { openChains } from '../support/bridgeWorld.js'
import { holdBlocks } from '../support/miner.js'
import { useBridge } from '../support/useBridge.js'

const world = useBridge()

async function rewindTo(label: string, block: number): Promise<RewindReport> {
  const open = (await openChains(world.pool, world.file)).find(
    ({ config }) => config.label === label,
  )!
  const row = (await findChain(world.pool, 'mainnet', label))!
  const target = await checkRewindTarget(world.pool, open.chain, row, block)
  const dry = await rewindJournal(world.pool, target, { apply: false })
  const applied = await rewindJournal(world.pool, target, { apply: true })
  expect(applied).toEqual(dry)
  await world.releaseIndex()
  return applied
}

const blockOf = async (guid: string): Promise<number> => {
  const sql = 'SELECT block FROM messages WHERE guid = $1'
  return (await world.pool.query<{ block: number }>(sql, [fromHex(guid)])).rows[0]!.block
}
const guids = async () =>
  (await world.pool.query<{ guid: Buffer }>('SELECT guid FROM messages ORDER BY block')).rows.map(
    ({ guid }) => toHex(guid),
  )
const heads = async () => {
  const sql =
    'SELECT generation, feed_generation, seq, public_seq, caught_up FROM journal_heads WHERE network = 0'
  return (await world.pool.query(sql)).rows
}
const executions = async (...of: `0x${string}`[]) =>
  Promise.all(of.map((guid) => world.executions(guid)))

describe('a rewind of a spoke', () => {
  it('keeps what the hub has or may have taken, takes the rest in anew; each is executed once', async () => {
    const relayer = await world.restart()
    const delivered = await world.send(0, ['delivered'])
    await world.finish(relayer)
    await world.index()
    const underWay = await world.send(1, ['under-way'])
    await holdBlocks(world.hub)
    await world.run(relayer, { steps: 2 }) // signed and sent
    const fresh = await world.send(2, ['fresh'])
    const block = await blockOf(delivered)
    const report = await rewindTo('8453', block)
    expect(report).toMatchObject({ names: { count: 0 } })
    expect(report.entries.after).toBe(report.entries.before)
    expect(report.keptMessages.first.map(({ guid }) => guid)).toEqual([delivered, underWay])
    expect(await guids()).toEqual([delivered, underWay])
    expect(report.generation).toEqual({ from: 1, to: 2 })
    expect(await findChain(world.pool, 'mainnet', '8453')).toMatchObject({
      nextBlock: block,
      halted: null,
    })

    await world.hub.test.setAutomine(true)
    await world.index()
    expect(await guids()).toEqual([delivered, underWay, fresh])
    await world.finish(await world.restart())
    await world.index()
    expect(await executions(delivered, underWay, fresh)).toEqual([1, 1, 1])
  })
})

describe('a rewind of the hub', () => {
  it('looks again at what was delivered in its blocks, and delivers nothing twice that is still there', async () => {
    const first = Number(await world.hub.public.getBlockNumber()) + 1
    const name = `again-${first}`
    const { generation } = (await heads())[0]!
    const guid = await world.send(3, [name])
    await world.finish(await world.restart())
    await world.index()
    const nonce = await world.nonce()
    await world.pool.query('UPDATE journal_heads SET caught_up = true')

    const report = await rewindTo('1', first)
    expect(await heads()).toMatchObject([
      { generation: generation + 1, feed_generation: generation + 1, caught_up: false },
    ])
    expect(report.names.first).toMatchObject([{ name, to: null }])
    expect(await findChain(world.pool, 'mainnet', '1')).toMatchObject({
      nextBlock: first,
      halted: null,
    })
    const { rows } = await world.pool.query('SELECT settled FROM messages WHERE guid = $1', [
      fromHex(guid),
    ])
    expect(rows).toEqual([{ settled: false }])
    expect(
      (await world.jobs()).filter(({ state }) => state === 'included').length,
    ).toBeGreaterThanOrEqual(2)

    const relayer = await world.restart()
    await world.finish(relayer)
    await world.index()
    await relayer.step()
    expect(await executions(guid)).toEqual([1])
    expect(await world.nonce()).toBe(nonce)
    const owned = await world.pool.query(`SELECT 1 FROM names WHERE name = $1 AND outcome = 1`, [
      name,
    ])
    expect(owned.rowCount).toBe(1)
    const settled = await world.pool.query('SELECT settled FROM messages WHERE guid = $1', [
      fromHex(guid),
    ])
    expect(settled.rows).toEqual([{ settled: true }])
    const { live, rebuilt, generation: replayed } = await replayJournal(world.pool, 'mainnet')
    expect({ rebuilt, replayed }).toEqual({ rebuilt: live, replayed: generation + 1 })
  })
})

describe('a local chain that came back from an older state', () => {
  it('has the messages of its lost blocks taken back', async () => {
    const before = await guids()
    const id = await world.spoke.test.snapshot()
    const lost = await world.send(5, ['lost'])
    expect(await guids()).toEqual([...before, lost])
    await world.spoke.test.revert({ id })
    // its blocks are others now
    await world.spoke.test.increaseTime({ seconds: 100 })
    await world.spoke.test.mine({ blocks: 20 })
    await world.releaseIndex()
    await world.index()
    expect(await guids()).toEqual(before)
    const found = await world.send(6, ['found'])
    expect(await guids()).toEqual([...before, found])
    await world.finish(await world.restart())
    expect(await executions(found)).toEqual([1])
  })
})

describe('a message', () => {
  it('is open until the hub’s block with it is confirmed', async () => {
    const isSettled = async () =>
      (
        await world.pool.query('SELECT 1 FROM messages WHERE guid = $1 AND settled', [
          fromHex(guid),
        ])
      ).rowCount === 1
    const guid = await world.send(4, ['settled'])
    const relayer = await world.restart()
    await world.run(relayer)
    await world.index()
    await world.run(relayer)
    expect(await world.executions(guid)).toBe(1)
    const { rows } = await world.pool.query('SELECT confirmed FROM received WHERE guid = $1', [
      fromHex(guid),
    ])
    expect(rows).toEqual([{ confirmed: false }])
    expect(await isSettled()).toBe(false)
    await world.hub.test.mine({ blocks: 2 })
    await world.index()
    await world.finish(relayer)
    await relayer.step()
    expect(await isSettled()).toBe(true)
  })
})
