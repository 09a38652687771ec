import pg from 'pg'
import { toHex } from 'viem'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { ChainConfig } from '../../src/config/index.js'
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
  let calls = 0
  const counted = async (_method: string, body: string) => {
    calls += [JSON.parse(body)].flat().length
    const finalized = Math.floor((await head()) / EPOCH) * EPOCH - 2 * EPOCH
    return { body: body.replace('"finalized"', `"${toHex(finalized)}"`) }
  }
  await world.test.mine({ blocks: 2 * BLOCKS })
  const rpcUrls = [await node(counted), await node(counted)]
  const lone = await open({ confirmation: policy, rpcUrls })
  expect(await drive(lone, 3)).toEqual([])
  while (!lone.indexer.isAtHead) await lone.indexer.step()
  const from = lone.indexer.state.nextBlock

  let nowMs = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  onTestFinished(() => clock.mockRestore())
  calls = 0
  for (let i = 0; i < BLOCKS; i++) {
    await world.test.mine({ blocks: 1 })
    nowMs += blockMs
    await lone.indexer.step()
  }

  expect(lone.indexer.state.nextBlock).toBe(from + BLOCKS)
  expect(calls / BLOCKS).toBeLessThanOrEqual(most)
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
