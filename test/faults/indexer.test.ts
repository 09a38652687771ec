import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  type FaultyNode,
  NODE_FAULT_KINDS,
  type NodeFaultKind,
  type NodeFaults,
  startFaultyNode,
} from '../support/faultyNode/faultyNode.js'
import { startHubWorld } from '../support/hubWorld.js'
import { useWorld } from '../support/useWorld.js'
import { indexerOver, type LoneIndexer } from './support.js'

/** More than the indexer follows one by one, so that a new one begins with a backfill. */
const BLOCKS_BEFORE = 75
const BIDS_LIVE = 6
/** More than the newest blocks that are checked against their headers. */
const LONG_BLOCKS = 700
const SEED = 4

/**
 * Left out: a socket only wakes the poller, and this test has no timers. A hanging call takes its whole timeout,
 * which test/chaos covers. Nobody requests receipts of a hub.
 */
const KINDS = NODE_FAULT_KINDS.filter(
  (kind) => !['silent_socket', 'hang', 'null_receipt'].includes(kind),
)
/** Faults that may occur in every answer. For the others, a node has to answer correctly now and then. */
const HARMLESS: readonly NodeFaultKind[] = [
  'delay',
  'duplicate_logs',
  'reorder_logs',
  'range_limit',
]
const OFTEN = 0.15
/** Faults of answers that are few in a run: by `OFTEN`, a run could pass without one. */
const SELDOM_ASKED: readonly NodeFaultKind[] = ['missing_logs', 'stale_head', 'other_fork']
const HALF = 0.5
/** Most blocks that a stale head is old: a node that is a few behind others is asked as they are. */
const STALE_BLOCKS = 6
/** Number of concurrent cases. */
const AT_ONCE = 8
const DEADLINE_MS = 300_000

const world = useWorld(() => startHubWorld())
let proxy: FaultyNode | undefined
let under: LoneIndexer | undefined
/** Count of bids so far; the chain grows from test to test. */
let names = 0
let groups = 0

beforeAll(async () => {
  // several bids on one name, in one block and in several
  while ((await head()) < BLOCKS_BEFORE + 10) {
    await bids()
    await world.test.mine({ blocks: 3 })
  }
})
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

interface Case {
  name: string
  faults: NodeFaults
  /** Number of other nodes, without faults. */
  others: number
}

interface Run {
  proxy: FaultyNode
  lone: LoneIndexer
  failure?: unknown
}

interface Result {
  counts: Record<NodeFaultKind, number>
  state: unknown
  failure: unknown
  /** Tables of an indexer without faults. */
  clean: unknown
}

/** Runs all cases, some in parallel. @returns the result of each by its name */
async function indexThrough(
  cases: readonly Case[],
  blocksBefore = BLOCKS_BEFORE,
): Promise<Map<string, Result>> {
  const results = new Map<string, Result>()
  for (let i = 0; i < cases.length; i += AT_ONCE)
    for (const [name, result] of await indexTogether(cases.slice(i, i + AT_ONCE), blocksBefore))
      results.set(name, result)
  return results
}

/**
 * Indexes a backfill and then live blocks. Each case has its own nodes and database, and all use the same blocks at the
 * same time, since they mostly wait.
 */
async function indexTogether(
  cases: readonly Case[],
  blocksBefore: number,
): Promise<[string, Result][]> {
  const start = (await head()) - blocksBefore
  const group = `g${groups++}`
  const limits = { delayMs: 4, retryAfterS: 0.02, rangeBlocks: 3, staleBlocks: STALE_BLOCKS }
  const runs = new Map<string, Run>()
  for (const { name, faults, others } of cases) {
    const proxy = await startFaultyNode({ target: world.anvil, seed: SEED, faults, limits })
    const rpcUrls = [proxy.rpcUrl, ...Array<string>(others).fill(world.anvil.rpcUrl)]
    const database = `${group}_${name.replaceAll(' ', '_')}`
    runs.set(name, {
      proxy,
      lone: await indexerOver(world, database, { rpcUrls, startBlock: start }),
    })
  }
  const clean = await indexerOver(world, `${group}_clean`, { startBlock: start })
  try {
    const each = (step: (lone: LoneIndexer) => Promise<unknown>) =>
      Promise.all(
        [...runs.values()].map(async (run) => {
          if (run.failure === undefined)
            await step(run.lone).catch((failure: unknown) => Object.assign(run, { failure }))
        }),
      )
    const before = (await head()) - 2 - STALE_BLOCKS
    await each((lone) => lone.drive(before))
    for (let i = 0; i < BIDS_LIVE; i++) {
      await bids()
      await each((lone) => lone.indexer.step().catch(() => {}))
    }
    const last = await head()
    await world.test.mine({ blocks: 9 })
    await each((lone) => lone.drive(last))
    await clean.drive(last)
    const expected = await clean.state()
    const results: [string, Result][] = []
    for (const [name, { proxy, lone, failure }] of runs) {
      const state = failure === undefined && (await lone.state())
      results.push([name, { counts: proxy.counts(), failure, state, clean: expected }])
    }
    return results
  } finally {
    for (const { lone, proxy } of runs.values()) await Promise.all([lone.stop(), proxy.stop()])
    await clean.stop()
  }
}

/** Expects the same tables as without faults. @returns number of each fault */
function expectTheSame(results: ReadonlyMap<string, Result>, name: string): Result['counts'] {
  const { failure, state, counts, clean } = results.get(name)!
  if (failure !== undefined) throw failure
  expect(state).toEqual(clean)
  return counts
}

describe('the only node', () => {
  const EVERYTHING = 'everything at once'
  let results: Map<string, Result>
  beforeAll(async () => {
    const shareOf = (kind: NodeFaultKind) => {
      if (HARMLESS.includes(kind)) return 1
      return SELDOM_ASKED.includes(kind) ? HALF : OFTEN
    }
    const often = (kind: NodeFaultKind): NodeFaults => ({ [kind]: shareOf(kind) })
    const all = Object.fromEntries(KINDS.map((kind) => [kind, 0.05]))
    results = await indexThrough([
      ...KINDS.map((kind) => ({ name: kind, faults: often(kind), others: 0 })),
      { name: EVERYTHING, faults: all, others: 0 },
    ])
  }, DEADLINE_MS)

  it.each(KINDS)('%s: nothing lost, nothing duplicated', (kind) => {
    expect(expectTheSame(results, kind)[kind]).toBeGreaterThan(0)
  })

  it(`${EVERYTHING}: nothing lost, nothing duplicated`, () => {
    const counts = expectTheSame(results, EVERYTHING)
    expect(KINDS.filter((kind) => counts[kind] > 0).length).toBeGreaterThan(KINDS.length / 2)
  })
})

describe('the first of three nodes, always', () => {
  let results: Map<string, Result>
  beforeAll(async () => {
    results = await indexThrough(
      KINDS.map((kind) => ({ name: kind, faults: { [kind]: 1 }, others: 2 })),
    )
  }, DEADLINE_MS)

  it.each(KINDS)('%s: nothing lost, nothing duplicated', (kind) => {
    expect(expectTheSame(results, kind)[kind]).toBeGreaterThan(0)
  })
})

describe('a node on a fork from below the checkpoint', () => {
  const DEEP = { delayMs: 4, forkBlocks: 12 }
  const LOOKS = 12
  const HALT_LIMIT_MS = 20_000
  const LOOK_EVERY_MS = 60

  async function caughtUp(
    database: string,
    others: readonly string[],
    options?: { haltPatience?: { failures: number; ms: number } },
  ): Promise<LoneIndexer> {
    proxy = await startFaultyNode({ target: world.anvil, seed: SEED, limits: DEEP })
    const start = (await head()) - BLOCKS_BEFORE
    under = await indexerOver(
      world,
      database,
      { rpcUrls: [proxy.rpcUrl, ...others], startBlock: start },
      options,
    )
    await under.drive((await head()) - 2)
    proxy.set({ other_fork: 1 })
    return under
  }

  it('does not halt the chain while another node has the checkpoint’s block', async () => {
    const { indexer, drive } = await caughtUp('fork_of_one', [world.anvil.rpcUrl])
    for (let look = 0; look < LOOKS; look++) {
      await indexer.step().catch(() => {})
      await world.test.mine({ blocks: 1 })
    }
    expect(proxy?.counts().other_fork).toBeGreaterThan(3)
    expect(indexer.state.halted).toBeNull()
    proxy?.set({})
    await drive((await head()) - 2)
  })

  it('does not halt the chain at first, where it is the only node, since the fault may be transient', async () => {
    const { indexer, drive } = await caughtUp('fork_that_passes', [], {})
    const outcomes: unknown[] = []
    for (let look = 0; look < LOOKS; look++)
      outcomes.push(await indexer.step().catch(({ message }) => message))
    expect(proxy?.counts().other_fork).toBeGreaterThan(3)
    expect(indexer.state.halted).toBeNull()
    expect(outcomes).toContainEqual(expect.stringContaining('has been replaced'))
    proxy?.set({})
    await world.test.mine({ blocks: 3 })
    await drive((await head()) - 2)
    expect(indexer.state.lastError).toBeNull()
  })

  it('halts the chain after several checks over some time', async () => {
    const haltPatience = { failures: 4, ms: 300 }
    const { indexer } = await caughtUp('fork_that_stays', [], { haltPatience })
    const since = performance.now()
    let looks = 0
    while (indexer.state.halted === null && performance.now() - since < HALT_LIMIT_MS) {
      await indexer.step().catch(() => {})
      looks += 1
      // some forks of the proxy begin above the checkpoint, and a check that finds one restarts the count
      await sleep(LOOK_EVERY_MS)
    }
    expect(indexer.state.halted).toContain('has been replaced')
    expect(looks).toBeGreaterThanOrEqual(haltPatience.failures)
    expect(performance.now() - since).toBeGreaterThanOrEqual(haltPatience.ms)
  })

  it('does not halt the chain while the other of two nodes does not answer', async () => {
    const other = await startFaultyNode({ target: world.anvil, seed: SEED })
    const { indexer } = await caughtUp('fork_of_half', [other.rpcUrl])
    await other.stop()
    for (let look = 0; look < LOOKS; look++) await indexer.step().catch(() => {})
    expect(indexer.state.halted).toBeNull()
  })

  it('halts the chain where it is the only one', async () => {
    const { indexer } = await caughtUp('fork_of_all', [])
    for (let look = 0; look < LOOKS; look++) await indexer.step().catch(() => {})
    expect(indexer.state.halted).toContain('has been replaced')
  })
})

describe('a long chain', () => {
  // for blocks far from the head, bloom filters of each block are too much data
  it('logs that one of three nodes leaves out are taken from the two others', async () => {
    await world.test.mine({ blocks: LONG_BLOCKS })
    await bids()
    await world.test.mine({ blocks: 2 })
    const faults = { missing_logs: 1 }
    const results = await indexThrough(
      [{ name: 'long', faults, others: 2 }],
      LONG_BLOCKS + BLOCKS_BEFORE,
    )
    expect(expectTheSame(results, 'long').missing_logs).toBeGreaterThan(3)
  })
})
