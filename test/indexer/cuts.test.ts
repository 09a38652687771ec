import { afterEach, describe, expect, it } from 'vitest'
import { integerBetween, pickElement } from '../../src/testing/faultProxy/random.js'
import { indexerOver, type LoneIndexer } from '../faults/support.js'
import { MINIMUM_WEI, startHubWorld } from '../support/hubWorld.js'
import { replaceNewestBlocks } from '../support/miner.js'
import { seededRandomSequence } from '../support/random.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'

const CONFIRMATION_BLOCKS = 6
/** Bids are older than any writer's clock. Otherwise the writer's clock decides an entry's time. */
const AGE_S = 86_400
/** Seeds of one history each: `CUT_SEEDS=1,2,3` runs more. */
const SEEDS = (process.env.CUT_SEEDS ?? '1').split(',').map(Number)
const ACTIONS = 36
/** Behaviour of indexers: after which share of the actions one steps, and after which it restarts. */
const HABITS = [
  { looks: 1, restarts: 0 },
  { looks: 0.9, restarts: 0.3 },
  { looks: 0.5, restarts: 0 },
  { looks: 0.2, restarts: 0.1 },
  { looks: 0.05, restarts: 0.02 },
]

const world = useWorld(() => startHubWorld({ ageS: AGE_S }))
/** A node that gives null as the time of each log. */
const timeless = useWorld(() =>
  startRpcProxy(world.anvil.rpcUrl, async (method) =>
    method === 'eth_getLogs' ? withoutTimes : undefined,
  ),
)
let under: LoneIndexer[] = []
afterEach(async () => {
  for (const lone of under) await lone.stop()
  under = []
})

function withoutTimes(answer: string): string {
  const { result, ...rest } = JSON.parse(answer) as { result: object[] }
  return JSON.stringify({
    ...rest,
    result: result.map((log) => ({ ...log, blockTimestamp: null })),
  })
}

const head = async (): Promise<number> =>
  Number(await world.public.getBlockNumber({ cacheTime: 0 }))

/** One action on the chain: new blocks, with bids on few names, or a reorg of unconfirmed blocks. */
async function act(random: () => number): Promise<void> {
  const what = random()
  if (what < 0.2)
    return replaceNewestBlocks(world, integerBetween(random(), 1, CONFIRMATION_BLOCKS))
  if (what < 0.35) return world.test.mine({ blocks: integerBetween(random(), 1, 150) })
  if (what < 0.6) return world.test.mine({ blocks: integerBetween(random(), 1, 4) })
  const names = Array.from(
    { length: integerBetween(random(), 1, 4) },
    () => `name-${integerBetween(random(), 0, 99)}`,
  )
  const amountWei = BigInt(pickElement(random(), [1, 2, 3, 5])) * MINIMUM_WEI
  await world.bid(integerBetween(random(), 0, 7), [...new Set(names)], { amountWei })
}

async function settle({ indexer }: LoneIndexer): Promise<void> {
  for (let i = 0; i < 100; i++) if ((await indexer.step()).kind === 'idle') return
  throw new Error(`it does not come to rest: ${JSON.stringify(indexer.state)}`)
}

/** Everything that an indexer wrote about the chain, generation and order included. */
async function written({ pool, state }: LoneIndexer) {
  const rows = async (sql: string) => (await pool.query(sql)).rows as unknown[]
  const { hash } = await state()
  return {
    hash,
    journal: await rows(
      `SELECT seq, kind, block, log_index, at_ms, public_first, encode(body, 'hex') AS body, encode(effects, 'hex') AS effects
       FROM journal ORDER BY seq`,
    ),
    minimum: await rows('SELECT minimum_wei FROM journal_heads WHERE network = 0'),
    credits: await rows(
      `SELECT block, log_index, amount_wei FROM hub_credits ORDER BY block, log_index`,
    ),
    facts: await rows(
      `SELECT block, log_index, kind, name, encode(body, 'hex') AS body FROM facts ORDER BY block, log_index`,
    ),
  }
}

describe('a watch-only hub gives the same journal and tables, in whatever steps its blocks were read', () => {
  it.each(SEEDS)('seed %i', async (seed) => {
    const startBlock = (await head()) + 1
    const random = seededRandomSequence(seed, 'chain')
    const minimum = [0, 7, 8, 60, 61, 150, 400].map((after) => ({
      fromBlock: startBlock + after,
      wei: String(BigInt(integerBetween(random(), 0, 4)) * MINIMUM_WEI),
    }))
    const changes = {
      startBlock,
      confirmation: { kind: 'depth' as const, blocks: CONFIRMATION_BLOCKS },
      watchOnly: { minimum: [{ fromBlock: 0, wei: '1' }, ...minimum], quotes: false },
    }
    await world.test.mine({ blocks: CONFIRMATION_BLOCKS + 1 })
    for (const i of HABITS.keys())
      under.push(await indexerOver(world, `seed_${seed}_${i}`, changes))
    for (let i = 0; i < ACTIONS; i++) {
      await act(random)
      for (const [n, { looks, restarts }] of HABITS.entries()) {
        const lone = under[n]!
        const own = seededRandomSequence(seed, 'indexer', n, i)
        if (own() < restarts) await lone.restart()
        if (own() < looks)
          for (let steps = integerBetween(own(), 1, 3); steps > 0; steps--)
            await lone.indexer.step()
      }
    }
    await world.test.mine({ blocks: 450 })
    await world.bid(0, ['unconfirmed'])
    // an indexer that reads all blocks at once
    under.push(
      await indexerOver(world, `seed_${seed}_last`, { ...changes, rpcUrls: [timeless.url] }),
    )
    for (const lone of under) await settle(lone)
    const [last, ...others] = (await Promise.all(under.map(written))).reverse()
    expect(last!.journal.length).toBeGreaterThan(ACTIONS / 2)
    for (const other of others) expect(other).toEqual(last)
  })
})
