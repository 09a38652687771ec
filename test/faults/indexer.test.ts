import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../../src/testing/faultProxy/faultProxy.js'
import { FAULT_KINDS, type FaultKind, type Faults } from '../../src/testing/faultProxy/kinds.js'
import { type HubWorld, startHubWorld } from '../support/hubWorld.js'
import { indexerOver, type LoneIndexer } from './support.js'

/** More than the indexer follows one by one, so that a new one begins with a backfill. */
const BLOCKS_BEFORE = 75
const BIDS_LIVE = 6
/** More than the newest blocks that are held against their headers. */
const LONG_BLOCKS = 700
const SEED = 4

/** A socket only wakes the poller, and here there are no timers. */
const KINDS = FAULT_KINDS.filter((kind) => kind !== 'silent_socket')
/** Faults that can be answered each time; of the others a node has to answer rightly now and then. */
const HARMLESS: readonly FaultKind[] = ['delay', 'missing_logs', 'duplicate_logs', 'reorder_logs', 'range_limit']
const OFTEN = 0.15

/** Receipts are asked for only where logs are missing. */
const faultsOf = (kind: FaultKind, probability: number): Faults => ({
  [kind]: probability,
  ...(kind === 'null_receipt' ? { missing_logs: 1 } : {}),
})

let world: HubWorld
let proxy: FaultProxy | undefined
let under: LoneIndexer | undefined
/** Of bids so far; the chain grows from test to test. */
let names = 0

beforeAll(async () => {
  world = await startHubWorld()
  // a name for which several bid, in one block and in several
  while ((await head()) < BLOCKS_BEFORE + 10) {
    await bids()
    await world.test.mine({ blocks: 3 })
  }
})
afterAll(() => world.stop())
afterEach(async () => {
  await under?.stop()
  await proxy?.stop()
  under = undefined
  proxy = undefined
})

/** Two bids on one name, and some on names of their own. */
async function bids(): Promise<void> {
  const n = names++
  await world.bid(n % 4, [`contested-${n >> 1}`, `own-${n}`])
}

const head = async (): Promise<number> => Number(await world.public.getBlockNumber())

async function startProxy(faults: Faults): Promise<FaultProxy> {
  proxy = await startFaultProxy({
    target: world.anvil,
    seed: SEED,
    faults,
    limits: { delayMs: 4, retryAfterS: 0.02, rangeBlocks: 3 },
  })
  return proxy
}

/** A backfill and then live blocks through the nodes; the state afterwards against that of an indexer without faults. */
async function expectTheSame(
  database: string,
  rpcUrls: readonly string[],
  blocksBefore = BLOCKS_BEFORE,
): Promise<void> {
  const start = (await head()) - blocksBefore
  under = await indexerOver(world, `under_${database}`, rpcUrls, start)
  await under.drive((await head()) - 2)
  for (let i = 0; i < BIDS_LIVE; i++) {
    await bids()
    await under.indexer.converge().catch(() => {})
  }
  const last = await head()
  await world.test.mine({ blocks: 9 })
  await under.drive(last)
  const clean = await indexerOver(world, `clean_${database}`, [world.anvil.rpcUrl], start)
  try {
    await clean.drive(last)
    expect(await under.state()).toEqual(await clean.state())
  } finally {
    await clean.stop()
  }
}

describe('the only node', () => {
  it.each(KINDS)('%s: nothing lost, nothing doubled', async (kind) => {
    const { rpcUrl, counts } = await startProxy(faultsOf(kind, HARMLESS.includes(kind) ? 1 : OFTEN))
    await expectTheSame(kind, [rpcUrl])
    expect(counts()[kind]).toBeGreaterThan(0)
  })

  it('everything at once: nothing lost, nothing doubled', async () => {
    const { rpcUrl, counts } = await startProxy(Object.fromEntries(KINDS.map((kind) => [kind, 0.05])))
    await expectTheSame('everything', [rpcUrl])
    expect(KINDS.filter((kind) => counts()[kind] > 0).length).toBeGreaterThan(KINDS.length / 2)
  })
})

describe('the first of two nodes, always', () => {
  it.each(KINDS)('%s: nothing lost, nothing doubled', async (kind) => {
    const { rpcUrl } = await startProxy(faultsOf(kind, 1))
    await expectTheSame(`two_${kind}`, [rpcUrl, world.anvil.rpcUrl])
    expect(proxy?.counts()[kind]).toBeGreaterThan(0)
  })
})

describe('a node on a fork from below the checkpoint', () => {
  const DEEP = { delayMs: 4, forkBlocks: 12 }
  const LOOKS = 12

  async function caughtUp(database: string, others: readonly string[]): Promise<LoneIndexer> {
    proxy = await startFaultProxy({ target: world.anvil, seed: SEED, limits: DEEP })
    const start = (await head()) - BLOCKS_BEFORE
    under = await indexerOver(world, database, [proxy.rpcUrl, ...others], start)
    await under.drive((await head()) - 2)
    proxy.set({ other_fork: 1 })
    return under
  }

  it('halts nothing while another node has the checkpoint’s block', async () => {
    const { indexer, drive } = await caughtUp('fork_of_one', [world.anvil.rpcUrl])
    for (let look = 0; look < LOOKS; look++) {
      await indexer.converge().catch(() => {})
      await world.test.mine({ blocks: 1 })
    }
    expect(proxy?.counts().other_fork).toBeGreaterThan(3)
    expect(indexer.state.halted).toBeNull()
    proxy?.set({})
    await drive((await head()) - 2)
  })

  it('halts the chain where it is the only one', async () => {
    const { indexer } = await caughtUp('fork_of_all', [])
    for (let look = 0; look < LOOKS; look++) await indexer.converge().catch(() => {})
    expect(indexer.state.halted).toContain('has been replaced')
  })
})

describe('a long chain', () => {
  // far below the head a bloom filter a block is too much to ask for
  it('logs that one of two nodes misses are found by comparing them', async () => {
    await world.test.mine({ blocks: LONG_BLOCKS })
    await bids()
    await world.test.mine({ blocks: 2 })
    const { rpcUrl, counts } = await startProxy({ missing_logs: 1 })
    await expectTheSame('long', [rpcUrl, world.anvil.rpcUrl], LONG_BLOCKS + BLOCKS_BEFORE)
    expect(counts().missing_logs).toBeGreaterThan(3)
  })
})
