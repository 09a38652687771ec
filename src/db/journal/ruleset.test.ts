import type pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../../test/storage/database.js'
import { CURRENT_RULESET } from '../../registry/journal/ruleset.js'
import { appendSignedChanges } from './appendSignedChanges.js'
import { replay } from './replay.js'

const database = useDatabase()
let pool: pg.Pool

beforeAll(async () => {
  pool = database.pool
  await pool.query('UPDATE journal_heads SET caught_up = true')
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
