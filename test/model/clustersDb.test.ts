import fc from 'fast-check'
import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { type ChainRow, registerChain } from '../../src/db/chains/chains.js'
import { appendEntries } from '../../src/db/journal/append.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { rewindJournal } from '../../src/db/journal/rewind/index.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import type { Entry } from '../../src/registry/journal/entry.js'
import { useDatabase } from '../support/database.js'
import { CommunityModel } from './communityModel.js'
import { type CommunityStep, communitySteps, entryOf, HIDING } from './communitySteps.js'
import { folded, LATE } from './lines.js'
import type { MemoryRegistry } from './memoryRegistry.js'

/** Number of histories. `MODEL_RUNS=200` makes a long run. */
const RUNS = Number(process.env.MODEL_RUNS ?? 15)

const database = useDatabase()
let pool: pg.Pool
let hub: ChainRow

beforeAll(async () => {
  pool = database.pool
  const chain = {
    network: 'mainnet',
    label: '1',
    instance: '',
    family: 'evm',
    chainId: 31_337,
    startBlock: 0,
  } as const
  hub = await registerChain(pool, {
    ...chain,
    genesisHash: Buffer.alloc(32),
    contract: Buffer.alloc(20),
  })
})

async function empty(): Promise<void> {
  await pool.query(
    'TRUNCATE journal, names, clusters, wallets, communities, community_names, moves',
  )
  await pool.query(
    `UPDATE journal_heads SET generation = 1, seq = 0, public_seq = 0, at_ms = 0, serial = 0, minimum_wei = 1 WHERE network = 0`,
  )
  await pool.query('UPDATE chains SET next_block = 1000')
}

const rows = async (text: string): Promise<unknown[]> => (await pool.query(text)).rows
const minimum: Entry = {
  kind: 'minimum',
  position: { chain: 1, block: 0, logIndex: 0 },
  txKey: null,
  causeMs: 0,
  body: Buffer.from('1'.padStart(64, '0'), 'hex'),
}

/** The journal's entries of steps, under the minimum. */
function entriesOf(list: readonly CommunityStep[]): Entry[] {
  const model = new CommunityModel()
  const entries = list.map((step, i) => {
    const entry = entryOf(step, i + 1, model.origins)
    model.play(step, i + 1)
    return entry
  })
  return [minimum, ...entries]
}

/** Writes entries in batches. */
async function appendAll(entries: readonly Entry[], cuts: readonly number[]): Promise<void> {
  const rest = entries.map(decodeEntry)
  for (const size of [...cuts, rest.length]) {
    const batch = rest.splice(0, size)
    await inTransaction(pool, (client) =>
      appendEntries(client, 'mainnet', batch, { writerMs: LATE }),
    )
  }
}

async function expectTables(registry: MemoryRegistry, generation = 1): Promise<void> {
  const order = (
    a: { cluster: number; address: Buffer },
    b: { cluster: number; address: Buffer },
  ) => a.cluster - b.cluster || Buffer.compare(a.address, b.address)
  const wallets = await rows(
    `SELECT cluster, address, name, verified AS "isVerified", private AS "isPrivate", backed_up AS "isBackedUp",
       created_seq AS "createdSeq", updated_seq AS "updatedSeq", evidence_seq AS "evidenceSeq"
     FROM wallets ORDER BY cluster, address`,
  )
  expect(wallets).toEqual([...registry.wallets].sort(order))
  expect(await rows('SELECT name, cluster FROM names WHERE outcome = 1 ORDER BY seq')).toEqual(
    registry.names
      .filter((row) => row.outcome === 'won')
      .map(({ name, cluster }) => ({ name, cluster })),
  )
  expect(await rows('SELECT name, seq FROM communities ORDER BY seq')).toEqual(registry.communities)
  expect(
    await rows(
      'SELECT community, name, address, verified AS "isVerified", assigned, claim, seq FROM community_names ORDER BY seq',
    ),
  ).toEqual(registry.communityNames)
  expect(
    await rows(
      `SELECT actor, effects, public_first AS "publicFirst", public_count AS "publicCount", at_ms AS "atMs"
       FROM journal WHERE generation = ${generation} ORDER BY seq`,
    ),
  ).toEqual(
    registry.journal.map(({ actor, effects, publicFirst, publicCount, atMs }) => {
      return { actor, effects, publicFirst, publicCount, atMs }
    }),
  )
  const { live, rebuilt } = await replayJournal(pool, 'mainnet')
  expect(rebuilt).toBe(live)
}

const sizes = fc.array(fc.integer({ min: 1, max: 14 }), { maxLength: 10 })

test('the database gives the same result as the rules in memory, with any batches, and so does a replay', async () => {
  await fc.assert(
    fc.asyncProperty(communitySteps, sizes, async (list, cuts) => {
      await empty()
      const entries = entriesOf(list)
      await appendAll(entries, cuts)
      await expectTables(folded(entries))
    }),
    { numRuns: RUNS, examples: [[[...HIDING], HIDING.map(() => 1)]] },
  )
})

test('after a rewind the tables equal the fold of the kept entries', async () => {
  await fc.assert(
    fc.asyncProperty(
      communitySteps,
      sizes,
      fc.integer({ min: 1, max: 25 }),
      async (list, cuts, block) => {
        await empty()
        const entries = entriesOf(list)
        await appendAll(entries, cuts)
        const target = {
          row: hub,
          isHub: true,
          block,
          parentHash: Buffer.alloc(32, 1),
          parentMs: 0,
        }
        await rewindJournal(pool, target, { apply: true })
        const kept = entries.filter(
          ({ position }) => position?.chain !== hub.chain || position.block < block,
        )
        await expectTables(folded(kept), 2)
      },
    ),
    { numRuns: Math.ceil(RUNS / 3) },
  )
})
