import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { appendEntries } from '../../src/db/append.js'
import { migrate } from '../../src/db/migrate.js'
import { createPool, inTransaction } from '../../src/db/pool.js'
import { replay } from '../../src/db/replay.js'
import type { Entry } from '../../src/registry/entry.js'
import { append, emptyRegistry } from '../../src/testing/memoryRegistry.js'
import { type Postgres, startPostgres } from '../../src/testing/postgres.js'
import { Model } from './clusterModel.js'
import { entryOf, steps } from './clusterSteps.js'

const LATE = Number.MAX_SAFE_INTEGER
const home = mkdtempSync(join(tmpdir(), 'clusterd-clusters-'))
let postgres: Postgres
let pool: pg.Pool

beforeAll(async () => {
  postgres = await startPostgres({ dataDir: join(home, 'pg') })
  await migrate(postgres.url)
  pool = createPool({ url: postgres.url, max: 4, applicationName: 'test' })
})
afterAll(async () => {
  await pool.end()
  await postgres.stop()
  rmSync(home, { recursive: true, force: true })
})

async function empty(): Promise<void> {
  await pool.query('TRUNCATE journal, names, clusters, wallets')
  await pool.query(
    'UPDATE journal_heads SET seq = 0, public_seq = 0, at_ms = 0, serial = 0, minimum_wei = 1 WHERE network = 0',
  )
}

const rows = async (text: string): Promise<unknown[]> => (await pool.query(text)).rows
const minimum: Entry = {
  kind: 'minimum',
  position: { chain: 1, block: 0, logIndex: 0 },
  txKey: null,
  causeMs: 0,
  body: Buffer.from('1'.padStart(64, '0'), 'hex'),
}

test('the database does as the rules in memory do, however the batches are cut, and a replay gives the same state', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 10 })
  await fc.assert(
    fc.asyncProperty(steps, sizes, async (list, cuts) => {
      await empty()
      const model = new Model()
      const entries = list.map((step, i) => {
        const entry = entryOf(step, i + 1, model.origins)
        model.run(step, i + 2)
        return entry
      })
      const registry = emptyRegistry('mainnet', 1n)
      append(registry, [minimum, ...entries], LATE)
      const rest = [minimum, ...entries]
      for (const size of [...cuts, rest.length]) {
        const batch = rest.splice(0, size)
        await inTransaction(pool, (client) => appendEntries(client, 'mainnet', batch, { writerMs: LATE }))
      }
      const order = (a: { cluster: number; address: Buffer }, b: { cluster: number; address: Buffer }) =>
        a.cluster - b.cluster || Buffer.compare(a.address, b.address)
      const wallets = await rows(
        `SELECT cluster, address, name, verified AS "isVerified", private AS "isPrivate", backed_up AS "isBackedUp",
           created_seq AS "createdSeq", updated_seq AS "updatedSeq" FROM wallets ORDER BY cluster, address`,
      )
      expect(wallets).toEqual([...registry.wallets].sort(order))
      expect(await rows('SELECT name, cluster FROM names WHERE outcome = 1 ORDER BY seq')).toEqual(
        registry.names.filter((row) => row.outcome === 'won').map(({ name, cluster }) => ({ name, cluster })),
      )
      expect(
        await rows('SELECT actor, effects, public_first AS first, public_count AS count FROM journal ORDER BY seq'),
      ).toEqual(
        registry.journal.map((row) => ({
          actor: row.actor,
          effects: row.effects,
          first: row.publicFirst,
          count: row.publicCount,
        })),
      )
      const { live, rebuilt } = await replay(pool, 'mainnet')
      expect(rebuilt).toBe(live)
    }),
    { numRuns: 25 },
  )
})
