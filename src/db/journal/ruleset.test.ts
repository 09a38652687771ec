import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CURRENT_RULESET } from '../../registry/journal/ruleset.js'
import { type Postgres, startPostgres } from '../../testing/processes/postgres.js'
import { migrate } from '../pg/migrate.js'
import { createPool } from '../pg/pool.js'
import { appendSignedChanges } from './appendSignedChanges.js'
import { replay } from './replay.js'

const home = mkdtempSync(join(tmpdir(), 'clusterd-ruleset-'))
let postgres: Postgres
let pool: pg.Pool

beforeAll(async () => {
  postgres = await startPostgres({ dataDir: join(home, 'pg') })
  await migrate(postgres.url)
  pool = createPool({ url: postgres.url, max: 4, applicationName: 'test' })
  await pool.query('UPDATE journal_heads SET caught_up = true')
})
afterAll(async () => {
  await pool.end()
  await postgres.stop()
  rmSync(home, { recursive: true, force: true })
})

test('an entry is stored with the version of its rules, and a replay asks for that one', async () => {
  const actor = Buffer.of(1, ...Buffer.alloc(20, 0xa1))
  const changes = [{ kind: 'create_cluster', actor } as const]
  await appendSignedChanges(pool, { network: 'mainnet', changes })
  expect((await pool.query('SELECT seq, ruleset FROM journal')).rows).toEqual([{ seq: 1, ruleset: CURRENT_RULESET }])
  const { live, rebuilt } = await replay(pool, 'mainnet')
  expect(rebuilt).toBe(live)

  await pool.query('UPDATE journal SET ruleset = 999')
  await expect(replay(pool, 'mainnet')).rejects.toThrow('ruleset 999 is unknown')
})
