import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { registerSnapshotMetrics } from '../../src/daemon/metrics.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import type { LoneIndexer } from '../faults/support.js'
import { snapshotWith } from '../support/snapshot.js'
import { useSilentNodes } from './silentNodes.js'

/** Time of an indexer's loop by stage. */

const { world, node, open, drive } = useSilentNodes()

/** More than the work itself takes, and far less than its time limits. */
const SLOW_MS = 300

/** Registers names, and mines until their block is confirmed. */
async function mineNames(...names: string[]): Promise<void> {
  await world.bid(1, names)
  await world.test.mine({ blocks: 2 })
}

/** Steps up to the newest block. @returns the time that the steps add to each stage, ms */
async function stagesOf(lone: LoneIndexer): Promise<Record<string, number>> {
  const before = lone.indexer.state.stagesMs
  const startedMs = performance.now()
  expect(await drive(lone)).toEqual([])
  const tookMs = performance.now() - startedMs
  const after = lone.indexer.state.stagesMs
  const added = Object.entries(after).map(
    ([stage, ms]) => [stage, ms - before[stage as keyof typeof before]] as const,
  )
  // slots that are forgotten meanwhile would make it less
  expect(added.reduce((sum, [, ms]) => sum + ms, 0)).toBeCloseTo(tookMs, -2)
  return Object.fromEntries(added)
}

it('a slow node adds to the stage `node`', async () => {
  let delayMs = 0
  const slow = await node(async () => void (await sleep(delayMs)))
  const lone = await open({ rpcUrls: [slow] })
  await mineNames('quick')
  const quick = await stagesOf(lone)
  expect(quick.decode).toBeGreaterThan(0)
  expect(quick.fold).toBeGreaterThan(0)

  delayMs = SLOW_MS
  await mineNames('slow')
  const stages = await stagesOf(lone)
  // heads, then logs: each call waits for the previous one
  expect(stages.node).toBeGreaterThan(2 * SLOW_MS)
  expect(stages.database).toBeLessThan(SLOW_MS)
})

it('a slow database adds to the stage `database`', async () => {
  const lone = await open({ rpcUrls: [world.anvil.rpcUrl] })
  await mineNames('early')
  await stagesOf(lone)

  await mineNames('late')
  let stepping: ReturnType<typeof stagesOf> | undefined
  await inTransaction(lone.pool, async (holder) => {
    await holder.query('SELECT FROM journal_heads FOR UPDATE')
    stepping = stagesOf(lone)
    await sleep(2 * SLOW_MS)
  })
  const stages = (await stepping)!
  expect(stages.database).toBeGreaterThan(SLOW_MS)
  expect(stages.node).toBeLessThan(SLOW_MS)
})

it('pauses between steps are idle, and the gauge has all stages', async () => {
  const lone = await open({ rpcUrls: [world.anvil.rpcUrl] })
  await mineNames('paused')
  await stagesOf(lone)
  const { idle } = lone.indexer.state.stagesMs
  await sleep(SLOW_MS)
  expect(lone.indexer.state.stagesMs.idle - idle).toBeGreaterThanOrEqual(SLOW_MS - 1)

  const { state } = lone.indexer
  const chain = {
    network: state.network,
    label: state.label,
    role: 'hub',
    state,
    nodes: [],
  } as const
  const registry = new Registry()
  registerSnapshotMetrics(registry, () => snapshotWith({ chains: [chain] }))
  const metrics = await registry.getMetricsAsJSON()
  const { values } = metrics.find(({ name }) => name === 'clusterd_chain_stage_seconds')!
  const shown = Object.fromEntries(values.map(({ labels, value }) => [labels.stage, value]))
  expect(Object.keys(shown)).toEqual(['node', 'decode', 'fold', 'database', 'idle'])
  expect(shown.idle).toBeCloseTo(lone.indexer.state.stagesMs.idle / 1_000, 0)
  expect(shown.node).toBeGreaterThan(0)
})
