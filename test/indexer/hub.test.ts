import { beforeAll, describe, expect, it, vi } from 'vitest'
import { unhaltChain } from '../../src/db/chains/chains.js'
import { appendEntries } from '../../src/db/journal/append.js'
import { LostLeadershipError, lockJournalHead } from '../../src/db/journal/head.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { isCursorOnChain, isCursorReplaced } from '../../src/indexer/evm/cursor.js'
import { checkRewindTarget } from '../../src/indexer/evm/rewindPoint.js'
import { createEvmIndexerWorker, findUnappliedMinimumBids } from '../../src/indexer/evm/worker.js'
import { MAX_LOGS_PER_FOLLOW } from '../../src/indexer/evm/write.js'
import { countApiRequest } from '../../src/ops/background.js'
import type { LeaderContext } from '../../src/ops/context.js'
import { createMetrics } from '../../src/ops/metrics.js'
import { encodeChange } from '../../src/registry/journal/change.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { readEpoch } from '../support/epoch.js'
import { startHubWorld } from '../support/hubWorld.js'
import { useWorld } from '../support/useWorld.js'

const world = useWorld(() => startHubWorld())

const owners = async () =>
  Object.fromEntries(
    (
      await world.pool.query<{ name: string; actor: Buffer }>(
        `SELECT n.name, j.actor FROM names n JOIN journal j USING (network, seq) WHERE n.outcome = 1 ORDER BY n.seq`,
      )
    ).rows.map(({ name, actor }) => [name, `0x${actor.subarray(1).toString('hex')}`]),
  )
const facts = async () =>
  (
    await world.pool.query<{ name: string }>(
      'SELECT name FROM facts WHERE kind = 1 ORDER BY block, log_index',
    )
  ).rows.map((r) => r.name)
const address = (i: number) => world.wallet(i).address.toLowerCase()

describe('a hub, block by block', () => {
  it('confirms a bid at two blocks on top of it, not before', async () => {
    const indexer = await world.restart()
    await world.test.mine({ blocks: 2 })
    await indexer.step()
    await world.bid(0, ['first'])
    expect(await indexer.step()).toMatchObject({
      kind: 'followed',
      blocks: 1,
      facts: 1,
      entries: 0,
    })
    expect(await facts()).toEqual(['first'])
    expect(await owners()).toEqual({})
    expect(await indexer.step()).toEqual({ kind: 'idle' })
    await world.test.mine({ blocks: 2 })
    expect(await indexer.step()).toMatchObject({ kind: 'followed', blocks: 2, entries: 1 })
    expect(await owners()).toEqual({ first: address(0) })
    expect(await facts()).toEqual([])
    // the bid of the next block stays pending
    await world.bid(1, ['second'])
    await world.bid(2, ['third'])
    await indexer.step()
    await world.test.mine({ blocks: 1 })
    await indexer.step()
    expect(await facts()).toEqual(['third'])
    // a bid that is confirmed when first seen never was pending
    await world.bid(3, ['fourth'])
    await world.test.mine({ blocks: 2 })
    await indexer.step()
    expect(await facts()).toEqual([])
  })

  it('indexes a block without logs of our contracts', async () => {
    const indexer = await world.restart()
    await world.test.mine({ blocks: 3 })
    await indexer.step()
    await indexer.step()
    await world.test.mine({ blocks: 1 })
    expect(await indexer.step()).toMatchObject({
      kind: 'followed',
      blocks: 1,
      confirmedBlocks: 1,
      facts: 0,
    })
    const { latest } = indexer.state
    const { rows } =
      await world.pool.query(`SELECT c.next_block, array_agg(t.block::int ORDER BY t.block) AS blocks
      FROM chains c JOIN tail_blocks t USING (network, chain) WHERE t.block >= c.next_block - 1 GROUP BY 1`)
    expect(rows).toEqual([{ next_block: latest! - 1, blocks: [latest! - 2, latest! - 1, latest] }])
    await world.pool.query('UPDATE leaders SET epoch = epoch + 1')
    await world.test.mine({ blocks: 1 })
    await expect(indexer.step()).rejects.toThrow(LostLeadershipError)
  })

  it('continues from a cursor that moved unnoticed, as by a commit whose answer was lost', async () => {
    const other = await world.restart()
    await world.bid(3, ['moved-unseen'])
    await other.step()
    const { pool } = world
    const noted = {
      network: 'mainnet',
      epoch: await readEpoch(pool, 'mainnet', 'index'),
      metrics: createMetrics(),
    }
    const log = { error() {}, info() {}, trace() {} }
    const ctx = { pool, log, ...noted } as unknown as LeaderContext
    const reporting = { onStart() {}, onAdvance() {}, onProgress() {} }
    const worker = createEvmIndexerWorker(
      ctx,
      { ...(await world.open()), identify: async () => {} },
      reporting,
    )
    const step = () => worker.step(new AbortController().signal, () => {})
    await step()
    await world.test.mine({ blocks: 2 })
    await other.step()
    const failure = await Promise.resolve(step()).catch((error: Error) => error)
    expect(failure).toMatchObject({ message: expect.stringContaining('it is not there any more') })
    worker.onFailure!(failure as Error)
    await world.bid(4, ['after-unseen'])
    await world.test.mine({ blocks: 2 })
    for (let i = 0; i < 3; i++) await step()
    expect(await owners()).toMatchObject({ 'moved-unseen': address(3), 'after-unseen': address(4) })
    const twice =
      'SELECT block FROM journal WHERE chain IS NOT NULL GROUP BY block, log_index HAVING count(*) > 1'
    expect((await pool.query(twice)).rows).toEqual([])
  })
})

describe('stalled finality', () => {
  it('is caught up in transactions of limited size, with whole blocks', async () => {
    const indexer = await world.restart({ config: { confirmation: { kind: 'depth', blocks: 30 } } })
    await indexer.step()
    const batch = 100
    for (let i = 0; i < 13; i++)
      await world.bid(
        i % 8,
        Array.from({ length: batch }, (_, k) => `stalled-${i}-${k}`),
      )
    await indexer.step()
    await world.test.mine({ blocks: 30 })
    expect(await indexer.step()).toMatchObject({
      kind: 'followed',
      entries: MAX_LOGS_PER_FOLLOW,
    })
    expect(await indexer.step()).toMatchObject({
      kind: 'followed',
      entries: 13 * batch - MAX_LOGS_PER_FOLLOW,
    })
    expect(await indexer.step()).toEqual({ kind: 'idle' })
  })
})

describe('a gap', () => {
  it('is indexed in ranges, then followed; the rebuilt state is the same', async () => {
    for (let i = 0; i < 30; i++) {
      await world.bid(
        i % 8,
        Array.from({ length: 10 }, (_, k) => `gap-${i}-${k}`),
      )
      await world.test.mine({ blocks: 4 })
    }
    await world.test.mine({ blocks: 2 })
    const seen: number[] = []
    const indexer = await world.restart({
      onProgress: ({ registrations }) => seen.push(registrations),
    })
    expect(await indexer.step()).toMatchObject({ kind: 'backfilled', entries: 300 })
    expect(seen.at(-1)).toBe(300)
    while ((await indexer.step()).kind !== 'idle');
    expect(indexer.state.isCaughtUp).toBe(true)
    const { live, rebuilt } = await replayJournal(world.pool, 'mainnet')
    expect(rebuilt).toBe(live)
  })

  it.each([
    ['small ranges while requests arrive', true],
    ['large ranges otherwise', false],
  ])('is indexed in %s', async (_what, isServing) => {
    for (let i = 0; i < 30; i++) {
      const names = Array.from({ length: 100 }, (_, k) => `room-${isServing}-${i}-${k}`)
      await world.bid(i % 8, names)
      await world.test.mine({ blocks: 3 })
    }
    await world.test.mine({ blocks: 2 })
    const seen = [0]
    const indexer = await world.restart({
      onProgress: ({ registrations }) => seen.push(registrations),
    })
    const requests = isServing && setInterval(countApiRequest, 1)
    try {
      expect(await indexer.step()).toMatchObject({ kind: 'backfilled', entries: 3_000 })
    } finally {
      if (requests) clearInterval(requests)
    }
    const largest = Math.max(...seen.slice(1).map((count, i) => count - seen[i]!))
    expect(largest > 600).toBe(!isServing)
  })

  it('continues with two other nodes when the first of three is unavailable', async () => {
    await world.bid(0, ['second-url'])
    await world.test.mine({ blocks: 2 })
    const indexer = await world.restart({
      config: {
        rpcUrls: ['http://127.0.0.1:9', world.anvil.rpcUrl, `${world.anvil.rpcUrl}/?again`],
      },
    })
    await indexer.step()
    expect((await owners())['second-url']).toBe(address(0))
  })

  it('fails with one sentence when no node answers, and a wrong chain id is refused', async () => {
    await expect(world.open({ rpcUrls: ['http://127.0.0.1:9'] })).rejects.toThrow(
      /chain "1": no RPC URL answers/,
    )
    await expect(world.open({ chainId: 5 })).rejects.toThrow(
      /is on chain id 900000001, not 5 .*To rehearse, run `clusterd rehearse`/,
    )
    await expect(world.open({ genesisHash: `0x${'11'.repeat(32)}` })).rejects.toThrow(
      /has genesis 0x.*To rehearse, run `clusterd rehearse`/,
    )
  })
})

describe('a configured minimum', () => {
  it('is not applied where its block was indexed before', async () => {
    const { chain, row } = await world.open()
    const missed = (fromBlock: number): Promise<number[]> => {
      const watchOnly = { minimum: [{ fromBlock, wei: '7' }], quotes: false }
      return findUnappliedMinimumBids(
        world.pool,
        { ...chain, config: { ...chain.config, watchOnly } },
        row,
      )
    }
    expect(await missed(row.nextBlock)).toEqual([])
    expect(await missed(row.nextBlock - 1)).toEqual([row.nextBlock - 1])
    expect(await missed(0)).toEqual([chain.config.startBlock])
  })
})

describe('writers', () => {
  it('a leader that lost its epoch writes no more', async () => {
    const old = await world.restart()
    await old.step()
    await world.restart()
    await world.bid(4, ['after-leader'])
    await expect(old.step()).rejects.toThrow(/another process leads/)
    await expect(
      inTransaction(world.pool, (client) => appendEntries(client, 'mainnet', [], { epoch: 1 })),
    ).rejects.toThrow(/another process leads/)
  })

  it('a block’s entries are folded on the state that was committed while their writer waited for the head', async () => {
    const indexer = await world.restart()
    while ((await indexer.step()).kind !== 'idle');
    await world.bid(8, ['behind-the-lock'])
    await world.test.mine({ blocks: 2 })
    const body = encodeChange({
      kind: 'create_cluster',
      actor: fromHex(`0x01${address(8).slice(2)}`),
    })
    const { step } = await inTransaction(world.pool, async (client) => {
      await lockJournalHead(client, 'mainnet', null)
      const waiting = indexer.step()
      const isWaiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%lead%'`
      await vi.waitFor(async () => expect((await world.pool.query(isWaiting)).rowCount).toBe(1))
      const causeMs = Date.now()
      const entry = decodeEntry({
        kind: 'create_cluster',
        position: null,
        txKey: null,
        causeMs,
        body,
      })
      await appendEntries(client, 'mainnet', [entry], {})
      return { step: waiting }
    })
    expect(await step).toMatchObject({ kind: 'followed' })
    // the name is in the cluster that its bidder made meanwhile, and in no other
    const clusters =
      'SELECT FROM names n JOIN clusters c ON c.serial = n.cluster JOIN journal j ON j.seq = c.created_seq'
    const found = await world.pool.query(
      `${clusters} WHERE n.name = 'behind-the-lock' AND j.body = $1`,
      [body],
    )
    expect(found.rowCount).toBe(1)
  })

  describe('a chain that was halted by mistake', () => {
    let halted: Awaited<ReturnType<typeof world.restart>>
    let opened: Awaited<ReturnType<typeof world.open>>

    beforeAll(async () => {
      halted = await world.restart()
      while ((await halted.step()).kind !== 'idle');
      await world.pool.query(`UPDATE chains SET halted = 'a mix-up'`)
      await world.test.mine({ blocks: 1 })
      await expect(halted.step()).rejects.toThrow('it is not there any more')
      opened = await world.open()
    })

    it('stays halted under another leader', async () => {
      expect((await (await world.restart()).step()).kind).toBe('halted')
    })

    it('has its cursor on the chain, and another block hash is not there', async () => {
      const { chain, row } = opened
      expect(await isCursorOnChain(chain, row)).toBe(true)
      expect(await isCursorOnChain(chain, otherCursor())).toBe(false)
    })

    it('counts a cursor as replaced where its only node says so, not where one of two does', async () => {
      const rpcUrls: [string, string] = [world.anvil.rpcUrl, 'http://127.0.0.1:9']
      const { chain: two } = await world.open({ rpcUrls })
      expect(await isCursorReplaced(two, otherCursor())).toBe(false)
      expect(await isCursorReplaced(opened.chain, otherCursor())).toBe(true)
    })

    it('can be rewound to a block of the journal, not to one beyond it', async () => {
      const { chain, row } = opened
      const target = await checkRewindTarget(world.pool, chain, row, row.nextBlock)
      expect(target).toMatchObject({ block: row.nextBlock })
      await expect(checkRewindTarget(world.pool, chain, row, row.nextBlock + 1)).rejects.toThrow(
        'is in the journal up to',
      )
    })

    it('continues on the operator’s request, which names its cursor, under another leader', async () => {
      const { row } = opened
      expect(await unhaltChain(world.pool, { ...row, nextBlock: row.nextBlock - 1 })).toBe(false)
      expect(await unhaltChain(world.pool, row)).toBe(true)
      await world.bid(6, ['after-the-halt'])
      await world.test.mine({ blocks: 2 })
      await expect(halted.step()).rejects.toThrow(/another process leads/)
      const next = await world.restart()
      while ((await next.step()).kind !== 'idle');
      expect((await owners())['after-the-halt']).toBe(address(6))
    })

    const otherCursor = () => ({ ...opened.row, parentHash: Buffer.alloc(32, 1) })
  })

  it('a confirmed block that is replaced halts the chain, and it stays halted', async () => {
    const snapshot = await world.test.snapshot()
    await world.bid(5, ['deep'])
    await world.test.mine({ blocks: 3 })
    const indexer = await world.restart()
    while ((await indexer.step()).kind !== 'idle');
    expect((await owners()).deep).toBe(address(5))
    await world.test.revert({ id: snapshot })
    await world.test.mine({ blocks: 8 })
    expect(await indexer.step()).toMatchObject({
      kind: 'halted',
      reason: expect.stringContaining('has been replaced'),
    })
    expect((await (await world.restart()).step()).kind).toBe('halted')
    expect((await owners()).deep).toBe(address(5))
  })
})
