import { beforeEach, expect, test } from 'vitest'
import { useDatabase } from '../../../test/storage/database.js'
import { type DecodedEntry, decodeEntry } from '../../registry/journal/decode.js'
import { nameToWord } from '../../registry/primitives/name.js'
import { between, sequence } from '../../testing/faultProxy/random.js'
import { inTransaction } from '../pg/pool.js'
import { type Ahead, type Appended, appendEntries, foldAhead, MovedHeadError, writeAhead } from './append.js'
import { createWrittenKeys } from './keyFilter.js'

const database = useDatabase()
const LATE = 1_000_000
const BATCHES = 12

const word = (value: number): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
const bid = (block: number, wallet: number, name: string, causeMs = block): DecodedEntry =>
  decodeEntry({
    ...{ kind: 'bid', position: { chain: 1, block, logIndex: 0 }, txKey: BigInt(block), causeMs },
    body: Buffer.concat([word(block), word(wallet), word(1), nameToWord(name)]),
  })

beforeEach(async () => {
  await database.pool.query('TRUNCATE journal, names, clusters, wallets')
  await database.pool.query(
    `UPDATE journal_heads SET generation = 1, seq = 0, public_seq = 0, at_ms = 0, serial = 0, minimum_wei = 1 WHERE network = 0`,
  )
})

const append = (entries: readonly DecodedEntry[], ahead: Ahead | null = null): Promise<Appended> =>
  inTransaction(database.pool, async (client) => {
    if (ahead) await writeAhead(client, 'mainnet', ahead, () => {})
    return appendEntries(client, 'mainnet', entries, { writerMs: LATE, ahead })
  })
const fold = (before: Appended, entries: readonly DecodedEntry[]): Promise<Ahead | null> =>
  foldAhead(database.pool, before, { network: 'mainnet', entries })

test.each([true, false])(
  'a batch is folded before the one before it is committed (with a filter: %s)',
  async (isFiltered) => {
    const random = sequence(isFiltered ? 1 : 2, 'bids')
    let block = 0
    const one = () => bid(++block, between(random(), 1, 40), `name-${between(random(), 0, 60)}`)
    const batches = Array.from({ length: BATCHES }, () => Array.from({ length: between(random(), 1, 12) }, one))
    const written = isFiltered ? createWrittenKeys() : undefined
    let ahead: Ahead | null = null
    for (const [i, batch] of batches.entries()) {
      ahead = await inTransaction(database.pool, async (client) => {
        // the first is folded in its turn; all others' changes are those that an ordinary fold has
        const done = await appendEntries(client, 'mainnet', batch, { writerMs: LATE, ...(ahead ? {} : { written }) })
        if (i > 0) expect(ahead?.changes).toEqual(done.changes)
        return foldAhead(database.pool, done, { network: 'mainnet', entries: batches[i + 1] ?? [one()], written })
      })
    }
    expect(ahead!.base.seq).toBe(batches.flat().length)
  },
)

test('rows that are written ahead appear in their turn, and not at all where somebody wrote in between', async () => {
  const first = await append([bid(1, 1, 'one')])
  const ahead = await fold(first, [bid(3, 1, 'three')])
  expect(ahead!.changes.names).toMatchObject([{ seq: 2, outcome: 'won' }])
  const namesOf = async () => (await database.pool.query('SELECT name FROM names ORDER BY seq')).rows
  await inTransaction(database.pool, async (client) => {
    await writeAhead(client, 'mainnet', ahead!, () => {})
    expect(await namesOf()).toEqual([{ name: 'one' }])
    await database.pool.query('UPDATE journal_heads SET minimum_wei = 2 WHERE network = 0')
    const appended = appendEntries(client, 'mainnet', [bid(3, 1, 'three')], { writerMs: LATE, ahead })
    await expect(appended).rejects.toThrow(MovedHeadError)
    await client.query('ROLLBACK; BEGIN')
  })
  await append([bid(2, 2, 'another')])
  await expect(append([bid(3, 1, 'three')], ahead)).rejects.toThrow(MovedHeadError)
  expect(await namesOf()).toEqual([{ name: 'one' }, { name: 'another' }])
})

test('a batch waits for its turn where its entries may be dated by their writer, or read whole clusters', async () => {
  const first = await append([bid(1, 1, 'one')])
  expect(await fold(first, [bid(2, 1, 'two', LATE)])).not.toBeNull()
  expect(await fold(first, [bid(2, 1, 'two', LATE + 1)])).toBeNull()
  await database.pool.query('UPDATE wallets SET private = true')
  expect(await fold({ ...first, changes: { ...first.changes, wallets: [] } }, [bid(2, 1, 'two')])).toBeNull()
})
