import pg from 'pg'
import { pino } from 'pino'
import { toHex } from 'viem'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { ChainConfig } from '../../src/config/index.js'
import { createEvmIndexerWorker } from '../../src/indexer/evm/worker.js'
import { WorkerLoops } from '../../src/ops/loops.js'
import { createMetrics } from '../../src/ops/metrics.js'
import { expectDocumentedCalls } from '../support/documentedCalls.js'
import { useSilentNodes } from './silentNodes.js'

/**
 * JSON-RPC calls, for which an operator pays, of an indexer on a quiet chain with two nodes, and its statements to the
 * database.
 */

const { world, node, open, drive, head } = useSilentNodes()

/** `finalized` advances once an epoch, and is at least two epochs behind the newest block. */
const EPOCH = 32
const BLOCKS = 2 * EPOCH
const DEPTH = { kind: 'depth', blocks: 2 } as const
const TAG = { kind: 'tag', tag: 'finalized' } as const

/** An indexer that has caught up, with two nodes whose calls are counted. */
async function openCounted(config: Partial<ChainConfig>) {
  const counted = { calls: 0 }
  const onCall = async (_method: string, body: string) => {
    counted.calls += [JSON.parse(body)].flat().length
    const finalized = Math.floor((await head()) / EPOCH) * EPOCH - 2 * EPOCH
    return { body: body.replace('"finalized"', `"${toHex(finalized)}"`) }
  }
  await world.test.mine({ blocks: 2 * BLOCKS })
  const rpcUrls = [await node(onCall), await node(onCall)]
  const lone = await open({ ...config, rpcUrls })
  expect(await drive(lone, 3)).toEqual([])
  return { lone, counted }
}

/**
 * Every five seconds the heads of all nodes are compared, with a call to each. That is two more calls a block on slow
 * chains, and almost none on fast ones.
 */
it.each<
  [blocks: string, policy: string, blockMs: number, ChainConfig['confirmation'], most: number]
>([
  // the newest block of both nodes, its logs, and the running hash and the hash of the confirmed block of both
  ['quick', 'depth', 0, DEPTH, 7],
  ['slow', 'depth', 12_000, DEPTH, 9],
  // three more calls in an epoch: the second node's finalized block, and the running hash of both
  ['quick', 'tag', 0, TAG, 3 + 3 / EPOCH],
  ['slow', 'tag', 12_000, TAG, 5 + 3 / EPOCH],
])('%s blocks that are confirmed by %s cost few calls', async (_, __, blockMs, policy, most) => {
  const { lone, counted } = await openCounted({ confirmation: policy })
  while (!lone.indexer.isAtHead) await lone.indexer.step()
  const from = lone.indexer.state.nextBlock

  let nowMs = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => clock.mockRestore())
  counted.calls = 0
  for (let i = 0; i < BLOCKS; i++) {
    await world.test.mine({ blocks: 1 })
    nowMs += blockMs
    await lone.indexer.step()
  }

  expect(lone.indexer.state.nextBlock).toBe(from + BLOCKS)
  expect(counted.calls / BLOCKS).toBeLessThanOrEqual(most)
})

it('a quiet block costs few statements, and none that deletes what no row is there for', async () => {
  const lone = await open({ confirmation: DEPTH, rpcUrls: [world.anvil.rpcUrl] })
  await world.test.mine({ blocks: 3 })
  while (!lone.indexer.isAtHead) await lone.indexer.step()
  await world.test.mine({ blocks: 1 })
  const query = vi.spyOn(pg.Client.prototype, 'query')
  onTestFinished(() => query.mockRestore())
  await lone.indexer.step()
  const statements = query.mock.calls.map(
    ([config]) => (config as unknown as { text?: string }).text ?? String(config),
  )
  expect(statements).toEqual([
    'BEGIN ISOLATION LEVEL READ COMMITTED',
    expect.stringMatching(/journal_heads h JOIN leaders .* FOR UPDATE/s),
    expect.stringMatching(/^SELECT FROM chains .* FOR NO KEY UPDATE/),
    expect.stringMatching(/^UPDATE chains /),
    expect.stringMatching(/^DELETE FROM tail_blocks .* block < /),
    expect.stringMatching(/^INSERT INTO tail_blocks /),
    expect.stringMatching(/^SELECT pg_notify/),
    'COMMIT',
  ])
})

/** A worker of a quiet chain runs in a time of its own, in which blocks come regularly. */
it.each([
  ['hub', 12, true],
  ['hub', 12, false],
  ['spoke', 2, true],
  ['spoke', 2, false],
] as const)(
  'a quiet %s with a block each %d s, WebSocket: %s, costs the documented calls a day',
  async (role, blockS, hasSocket) => {
    const wsUrl = hasSocket ? world.anvil.wsUrl : undefined
    const { lone, counted } = await openCounted({ confirmation: TAG, role, wsUrl, local: false })
    const { signal } = new AbortController()
    const ctx = {
      ...lone,
      network: 'mainnet',
      log: pino({ level: 'silent' }),
      metrics: createMetrics(),
      loops: new WorkerLoops(),
      signal,
    } as const
    const reporting = { onStart() {}, onAdvance() {}, onProgress() {} }
    const worker = createEvmIndexerWorker(ctx, { ...lone, identify: async () => {} }, reporting)
    const unsubscribe = worker.subscribe!()
    onTestFinished(() => unsubscribe?.())
    await world.test.setBlockTimestampInterval({ interval: blockS })
    onTestFinished(() => world.test.removeBlockTimestampInterval())

    let nowMs = performance.now()
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
    onTestFinished(() => clock.mockRestore())
    let blockMs = nowMs
    const mine = async () => {
      await world.test.mine({ blocks: 1 })
      if (hasSocket) await worker.notify!.wait(5_000, signal)
      blockMs += blockS * 1_000
    }
    const run = async (blocks: number) => {
      const endMs = blockMs + blocks * blockS * 1_000
      while (blockMs < endMs) {
        while ((await worker.step(signal, () => {})) === 'progressed');
        const pollAtMs = nowMs + worker.pollMs
        nowMs = hasSocket ? Math.min(pollAtMs, blockMs) : pollAtMs
        while (blockMs <= nowMs) await mine()
      }
    }
    await run(EPOCH)
    counted.calls = 0
    const startMs = nowMs
    await run(BLOCKS)

    const title = `${role}, a block each ${blockS} s${hasSocket ? ', `wsUrl`' : ''}`
    expectDocumentedCalls(title, counted.calls, nowMs - startMs)
  },
)
