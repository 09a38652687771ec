import { expect, it } from 'vitest'
import { replay } from '../../src/db/journal/replay.js'
import { createPool } from '../../src/db/pg/pool.js'
import { type DecodedEntry, decodeEntry } from '../../src/registry/journal/decode.js'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { useDatabase } from '../storage/database.js'
import { Entries } from '../support/scale/entries.js'
import { generate } from '../support/scale/generate.js'

const NAMES = 2_000
const database = useDatabase()

it('the rows of a generated registry are what the fold makes of its journal', async () => {
  const url = await createDatabase(database.url, 'scale')
  const made = await generate({ databaseUrl: url, names: NAMES })
  const pool = createPool({ url, max: 3, applicationName: 'test' })
  const { live, rebuilt, entries } = await replay(pool, 'mainnet')
  expect(rebuilt).toBe(live)
  expect(entries).toBe(made.entries)
  const { rows } = await pool.query(`SELECT outcome, count(*)::int AS bids FROM names GROUP BY 1 ORDER BY 1`)
  await pool.end()
  expect(rows.map(({ outcome }) => outcome)).toEqual([1, 2, 3])
  expect(rows[0].bids).toBe(made.names)
})

it('bodies that the generator writes by hand are those of the schema', () => {
  const made: DecodedEntry[] = []
  const entries = new Entries(NAMES)
  for (let cluster = 0; cluster < 200; cluster++) entries.add(made, cluster)
  for (const entry of made) expect(decodeEntry(entry)).toEqual(entry)
  expect(new Set(made.map(({ kind }) => kind)).size).toBe(5)
})
