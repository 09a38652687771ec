import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { appendEntries } from '../../src/db/journal/append.js'
import { type ChainRow, registerChain } from '../../src/db/journal/chains.js'
import { replay } from '../../src/db/journal/replay.js'
import { rewind } from '../../src/db/journal/rewind/index.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { readGolden } from '../golden/journal.js'
import { useDatabase } from './database.js'

const { entries } = readGolden(join(import.meta.dirname, '../golden/journal.json.gz'))
const database = useDatabase()
let row: ChainRow

beforeAll(async () => {
  const chain = { network: 'mainnet', label: '1', instance: '', chainId: 1, startBlock: 0 } as const
  row = await registerChain(database.pool, { ...chain, genesisHash: Buffer.alloc(32), contract: Buffer.alloc(20) })
  await database.pool.query('UPDATE chains SET next_block = 1000000000')
  await append(0, 78)
})

const append = (from: number, to: number) =>
  inTransaction(database.pool, (client) =>
    appendEntries(client, 'mainnet', entries.slice(from, to).map(decodeEntry), { writerMs: Number.POSITIVE_INFINITY }),
  )
const again = (isIncremental = true, keepBehind: number | null = null) =>
  replay(database.pool, 'mainnet', { isIncremental, keepBehind })
const schemas = async () =>
  (await database.pool.query(`SELECT nspname FROM pg_namespace WHERE nspname ~ '^(refold|snapshot)_'`)).rows

test('a replay keeps the tables of an entry before the end, and the next goes on from there', async () => {
  expect(await again(true)).toMatchObject({ from: 0, kept: null })
  const first = await again(false, 20)
  expect(first).toMatchObject({ kept: 58, live: first.rebuilt })
  expect(await schemas()).toEqual([{ nspname: 'snapshot_mainnet' }])
  await append(78, entries.length)
  const second = await again()
  expect(second).toMatchObject({ from: 58, entries: entries.length, live: second.rebuilt })
  // and moves the snapshot on
  expect(await again(true, 0)).toMatchObject({ from: 58, kept: entries.length })
  expect(await again()).toMatchObject({ from: entries.length })
  // a whole one says the same
  const whole = await again(false, 20)
  expect(whole).toMatchObject({ from: 0, live: whole.rebuilt })
})

test('an entry or a table that was changed is found, whether it is folded or not', async () => {
  const { kept } = await again(false, 20)
  for (const seq of [2, entries.length]) {
    const set = (add: number) =>
      database.pool.query('UPDATE journal SET public_count = public_count + $1 WHERE network = 0 AND seq = $2', [
        add,
        seq,
      ])
    await set(1)
    const { from, live, rebuilt } = await again(true, 0)
    expect([from, live === rebuilt]).toEqual([kept, false])
    await set(-1)
  }
  // what was found wrong was not kept
  expect(await again()).toMatchObject({ from: kept })
  // tables of a snapshot that are not what they were are not used
  await database.pool.query('UPDATE snapshot_mainnet.wallets_mainnet SET backed_up = NOT backed_up')
  expect(await again()).toMatchObject({ from: 0 })
})

test('a rewind from a snapshot gives what one from the first entry gives', async () => {
  const { pool } = database
  const text = 'SELECT min(block) AS block FROM journal WHERE network = 0 AND chain = $1 AND seq > $2'
  const { rows } = await pool.query(text, [row.chain, 80])
  const target = { row, isHub: true, block: rows[0].block, parentHash: Buffer.alloc(32, 1), parentMs: 0 }
  const whole = await rewind(pool, target, { apply: false })
  const { kept } = await again(false, 40)
  const steps: number[] = []
  const dry = await rewind(pool, target, { apply: false, onProgress: (done) => steps.push(done) })
  expect(steps).toContain(kept)
  expect(dry).toEqual(whole)
  expect(await rewind(pool, target, { apply: true })).toEqual(whole)
  const { generation, live, rebuilt } = await again()
  expect([generation, live === rebuilt]).toEqual([2, true])
  // the snapshot is of the generation before
  expect(await again()).toMatchObject({ from: 0 })
})
