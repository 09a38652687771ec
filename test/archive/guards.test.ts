import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { archiveFinding } from '../../src/cli/doctor/archive.js'
import { exportTo } from '../../src/cli/export/export.js'
import { appendEntries } from '../../src/db/journal/append.js'
import { dropArchives, restoreArchives, writeArchives } from '../../src/db/journal/archive/index.js'
import { type ChainRow, registerChain } from '../../src/db/journal/chains.js'
import { replay } from '../../src/db/journal/replay.js'
import { rewind } from '../../src/db/journal/rewind/index.js'
import { replayRange } from '../../src/db/journal/snapshot/range.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { readGolden } from '../golden/journal.js'
import { useDatabase } from '../storage/database.js'
import { age, cutJournal } from '../support/smallPartitions.js'

/** When entries may be archived, and what needs them back. */

const { entries } = readGolden(join(import.meta.dirname, '../golden/journal.json.gz'))
const database = useDatabase()
const dir = mkdtempSync(join(tmpdir(), 'clusterd-archive-'))
const options = { network: 'mainnet', dir } as const
let row: ChainRow

beforeAll(async () => {
  const chain = { network: 'mainnet', label: '1', instance: '', chainId: 1, startBlock: 0 } as const
  row = await registerChain(database.pool, { ...chain, genesisHash: Buffer.alloc(32), contract: Buffer.alloc(20) })
  await database.pool.query('UPDATE chains SET next_block = 1000000000')
  await inTransaction(database.pool, (client) =>
    appendEntries(client, 'mainnet', entries.map(decodeEntry), { writerMs: Number.POSITIVE_INFINITY }),
  )
  await cutJournal(database.pool, 20)
})
afterAll(() => rmSync(dir, { recursive: true }))

const sql = (text: string) => database.pool.query(text)
const written = async () => (await writeArchives(database.pool, options)).map(({ seqLast }) => seqLast)

describe('nothing is archived', () => {
  it('that is younger than a month', async () => {
    expect(await written()).toEqual([])
    await age(database.pool)
  })

  it('while a chain is halted, which a rewind follows', async () => {
    await sql(`UPDATE chains SET halted = 'a reorg'`)
    expect(await written()).toEqual([])
    await sql('UPDATE chains SET halted = NULL')
  })

  it('whose blocks are not below the checkpoint, or not final as the daemon last knew', async () => {
    const { rows } = await sql('SELECT max(block)::int8 AS block FROM journal_mainnet_1 WHERE chain = 1')
    await sql(`UPDATE chains SET next_block = ${rows[0].block}`)
    expect(await written()).toEqual([19])
    await sql(`UPDATE chains SET next_block = 1000000000;
      INSERT INTO chain_states VALUES (0, '1', '{"confirmed": ${Number(rows[0].block) - 1}}', 0)`)
    expect(await written()).toEqual([])
    await sql('DELETE FROM chain_states')
  })

  it('of the last two partitions', async () => {
    expect(await written()).toEqual([39, 59, 79])
  })
})

describe('where entries are archived', () => {
  beforeAll(async () => {
    await replay(database.pool, 'mainnet', { keepBehind: 60 })
    await dropArchives(database.pool, options)
  })
  const FIRST = 'entries of mainnet up to 79 are archived: bring them back with `clusterd archive --restore` first.'
  const undone = (block: number, apply = false) =>
    rewind(database.pool, { row, isHub: true, block, parentHash: Buffer.alloc(32, 5), parentMs: 0 }, { apply })

  it('a replay, one from an earlier snapshot, one that keeps another, and an export say what helps', async () => {
    await expect(replay(database.pool, 'mainnet')).rejects.toThrow(FIRST)
    await expect(replay(database.pool, 'mainnet', { isIncremental: true })).rejects.toThrow(FIRST)
    await expect(replay(database.pool, 'mainnet', { isIncremental: true, keepBehind: 5 })).rejects.toThrow(FIRST)
    const plan = { key: null, isPublic: false, networks: ['mainnet'] } as const
    await expect(exportTo(database.pool, join(dir, 'export'), plan)).rejects.toThrow(FIRST)
  })

  it('a rewind that begins a generation says it too, and changes nothing; one without entries runs', async () => {
    const { rows } = await sql('SELECT max(block)::int8 AS block FROM journal WHERE chain = 1')
    await expect(undone(Number(rows[0].block))).rejects.toThrow(FIRST)
    await expect(undone(1)).rejects.toThrow(FIRST)
    expect(await undone(Number(rows[0].block) + 1)).toMatchObject({ generation: { from: 1, to: 1 } })
  })

  it('the doctor sees whether their files are there', async () => {
    expect(await archiveFinding(database.pool, dir)).toMatchObject({ level: 'ok', found: '4 files, 4 of them needed' })
    expect(await archiveFinding(database.pool, undefined)).toMatchObject({ level: 'warn' })
    expect(await archiveFinding(database.pool, tmpdir())).toMatchObject({ level: 'bad' })
  })

  it('a replay goes on from a snapshot behind them, and finds what was changed there', async () => {
    await restoreArchives(database.pool, options)
    expect(await replay(database.pool, 'mainnet', { keepBehind: 20 })).toMatchObject({ kept: 88 })
    await dropArchives(database.pool, options)
    const again = () => replay(database.pool, 'mainnet', { isIncremental: true })
    const { from, live, rebuilt } = await again()
    expect([from, live === rebuilt]).toEqual([88, true])
    const next = await replay(database.pool, 'mainnet', { isIncremental: true, keepBehind: 5 })
    expect(next).toMatchObject({ from: 88, kept: 103, live: next.rebuilt })
    for (const move of [dropArchives, restoreArchives, dropArchives]) {
      const whole = await again()
      expect(whole).toMatchObject({ from: 103, live: whole.rebuilt })
      await move(database.pool, options)
    }
    await expect(replayRange(database.pool, 'mainnet', { from: 79 })).rejects.toThrow(FIRST)
    expect(await replayRange(database.pool, 'mainnet', { from: 104 })).toMatchObject({ base: 103, different: null })
    await sql(`UPDATE names SET outcome = 3 WHERE network = 0 AND seq = (SELECT min(seq) FROM names)`)
    const changed = await again()
    expect(changed.live === changed.rebuilt).toBe(false)
  })
})
