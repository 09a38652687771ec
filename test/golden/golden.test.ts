import { join } from 'node:path'
import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { appendEntries } from '../../src/db/journal/append.js'
import { replay } from '../../src/db/journal/replay.js'
import { stateHash } from '../../src/db/journal/stateHash.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { ENTRY_KIND } from '../../src/registry/journal/entry.js'
import { useDatabase } from '../storage/database.js'
import { countRows, readGolden } from './journal.js'

/**
 * The frozen journal: entries of every kind, taken from chains by the end-to-end tests. Bytes that were journalled once
 * give the same tables, effects and events for ever. A rule that has to change gets a new version by journal position
 * (CONTRIBUTING.md); the recording never changes.
 */
const golden = readGolden(join(import.meta.dirname, 'journal.json.gz'))
const database = useDatabase()
let pool: pg.Pool

beforeAll(() => {
  pool = database.pool
})

describe('the golden journal', () => {
  it('has entries of every kind but those that are newer', () => {
    const kinds = new Set(golden.entries.map(({ kind }) => kind))
    expect([...kinds, 'move_names'].sort()).toEqual(Object.keys(ENTRY_KIND).sort())
  })

  it('gives the recorded tables, effects and events, in batches of any size', async () => {
    for (let done = 0, size = 1; done < golden.entries.length; done += size, size = (size * 7) % 101) {
      const batch = golden.entries.slice(done, done + size).map(decodeEntry)
      await inTransaction(pool, (client) =>
        appendEntries(client, 'mainnet', batch, { writerMs: Number.POSITIVE_INFINITY }),
      )
    }
    const { hash, rows } = await inTransaction(pool, async (client) => ({
      hash: await stateHash(client, 'mainnet', 1),
      rows: await countRows(client, 'mainnet'),
    }))
    // recorded before there was the table
    expect(rows).toEqual({ moves: 0, ...golden.rows })
    expect(hash).toBe(golden.hash)
  })

  it('gives them again in a replay', async () => {
    const { live, rebuilt, entries } = await replay(pool, 'mainnet')
    expect([entries, live, rebuilt]).toEqual([golden.entries.length, golden.hash, golden.hash])
  })
})
