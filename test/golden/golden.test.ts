import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { appendEntries } from '../../src/db/journal/append.js'
import { STATE_TABLES } from '../../src/db/journal/partitions.js'
import {
  createSchemaWithEmptyTables,
  foldStoredBatch,
  replayJournal,
} from '../../src/db/journal/replay.js'
import { computeStateHash } from '../../src/db/journal/stateHash.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { ENTRY_KIND } from '../../src/registry/journal/entry.js'
import { useDatabase } from '../support/database.js'
import { countRows, readGolden } from './journal.js'

const CHANGED =
  'recorded entries have another effect. They keep their rules: give the changed rule to a new ruleset (src/registry/journal/ruleset.ts), as CONTRIBUTING.md says under "Changing a rule"'
const RULESETS = 'SELECT ruleset FROM journal_mainnet ORDER BY seq'

/**
 * Recorded journals: one of the end-to-end tests' chains; one with names that move in parts while others write, with
 * a finished and an unfinished move; one with names assigned after claims, one of them requested twice; and one with signed
 * memberships, of which wallets that left have lost theirs. Journal
 * bytes have to give the same tables, effects and events for ever, so the recordings never change.
 */
const recordings = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.json.gz'))
  .map((file) => ({ file, ...readGolden(join(import.meta.dirname, file)) }))

it('the recorded journals have entries of every kind that is folded', () => {
  const kinds = recordings.flatMap(({ entries }) => entries.map(({ kind }) => kind))
  const { mirrored: _, ...folded } = ENTRY_KIND
  expect([...new Set(kinds)].sort()).toEqual(Object.keys(folded).sort())
})

describe.each(recordings)('the recorded journal $file', (golden) => {
  const database = useDatabase()
  const rulesets = golden.entries.map(({ ruleset }) => ({ ruleset }))

  beforeAll(async () => {
    // in batches of any size
    for (
      let done = 0, size = 1;
      done < golden.entries.length;
      done += size, size = (size * 7) % 101
    ) {
      const batch = golden.entries.slice(done, done + size).map(decodeEntry)
      await inTransaction(database.pool, (client) =>
        appendEntries(client, 'mainnet', batch, { writerMs: Number.POSITIVE_INFINITY }),
      )
    }
  })

  it('gives the recorded number of rows of each table', async () => {
    const rows = await inTransaction(database.pool, (client) => countRows(client, 'mainnet'))
    // the first journal was recorded before the table of moves existed
    expect(rows, CHANGED).toEqual({ moves: 0, ...golden.rows })
  })

  it('gives the recorded hash of tables, effects and events', async () => {
    const hash = await inTransaction(database.pool, (client) =>
      computeStateHash(client, 'mainnet', 1),
    )
    expect(hash, CHANGED).toBe(golden.hash)
  })

  it('keeps the version of its rules with each entry', async () => {
    expect((await database.pool.query(RULESETS)).rows).toEqual(rulesets)
  })

  it('gives the same hash in a replay', async () => {
    const { live, rebuilt, entries } = await replayJournal(database.pool, 'mainnet')
    expect(entries, CHANGED).toBe(golden.entries.length)
    expect([live, rebuilt], CHANGED).toEqual([golden.hash, golden.hash])
  })

  it('keeps the versions of the rules in a replay', async () => {
    const replayed = {
      network: 'mainnet',
      generation: 1,
      schema: 'again',
      tables: ['journal', ...STATE_TABLES],
    } as const
    await inTransaction(database.pool, async (client) => {
      await createSchemaWithEmptyTables(client, 'mainnet', replayed)
      await client.query('SET LOCAL search_path = again')
      await foldStoredBatch({ ...replayed, reader: client, writer: client, done: 0 })
      expect((await client.query(RULESETS)).rows).toEqual(rulesets)
    })
  })
})
