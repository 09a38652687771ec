import pg from 'pg'
import { beforeAll, expect, test, vi } from 'vitest'
import { type ChainRow, registerChain } from '../../src/db/chains/chains.js'
import { appendEntries } from '../../src/db/journal/append.js'
import {
  appendSignedChanges,
  type SignedChangesResult,
} from '../../src/db/journal/appendSignedChanges.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { rewindJournal } from '../../src/db/journal/rewind/index.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { findClusterById } from '../../src/db/registry/clusters.js'
import type { ClusterChange, CommunityChange } from '../../src/registry/journal/change.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { addressToWord } from '../../src/registry/primitives/address.js'
import { bigIntToWord } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { useDatabase } from '../support/database.js'

const database = useDatabase()
let pool: pg.Pool
let row: ChainRow

beforeAll(async () => {
  pool = database.pool
  row = await registerChain(pool, {
    network: 'mainnet',
    label: '1',
    instance: '',
    family: 'evm',
    chainId: 31_337,
    genesisHash: Buffer.alloc(32),
    contract: Buffer.alloc(20),
    startBlock: 0,
  })
  await pool.query('UPDATE chains SET next_block = 100')
  await pool.query('UPDATE journal_heads SET caught_up = true')
})

const wallet = (n: number): Buffer => Buffer.of(1, ...Buffer.alloc(20, n))
const alice = wallet(0xa1)
const bob = wallet(0xb0)
const carol = wallet(0xca)
const dave = wallet(0xda)

async function bid(from: Buffer, name: string, block: number): Promise<void> {
  const body = Buffer.concat([
    Buffer.alloc(32, block),
    addressToWord(from),
    bigIntToWord(5n),
    nameToWord(name),
  ])
  const position = { chain: row.chain, block, logIndex: 0 }
  const entry = decodeEntry({
    kind: 'bid',
    position,
    txKey: BigInt(block),
    causeMs: block * 1_000,
    body,
  })
  await inTransaction(pool, (client) =>
    appendEntries(client, 'mainnet', [entry], { writerMs: Date.now() }),
  )
}
const make = (change: ClusterChange): Promise<SignedChangesResult> =>
  appendSignedChanges(pool, { network: 'mainnet', changes: [change] })

const ask = (change: CommunityChange) =>
  appendSignedChanges(pool, { network: 'mainnet', changes: [change] })
const configure = (actor: Buffer | null, community: string, ownersOnly = false) => {
  const rules = { prices: [], ownersOnly, startsAtMs: null, requirements: [] }
  return ask({ kind: 'configure_community', actor, community, rules })
}
const register = (actor: Buffer, community: string, name: string) =>
  ask({
    kind: 'register_community_name',
    actor,
    community,
    name,
    wallet: actor,
    met: null,
    isAssigned: false,
  })
const journalLength = async () =>
  (await pool.query('SELECT count(*)::int AS n FROM journal')).rows[0].n

test('a change of a community is judged under the head: made, refused, or nothing to write', async () => {
  await bid(bob, 'kept', 1)
  expect(await configure(bob, 'kept')).toMatchObject({ kind: 'made' })
  const written = await journalLength()
  expect(await configure(bob, 'kept')).toMatchObject({ kind: 'made' })
  expect(await configure(null, 'kept')).toMatchObject({ kind: 'made' })
  const refused = (refusal: object) => ({ kind: 'refused', refusal })
  expect(await configure(alice, 'kept', true)).toEqual(refused({ code: 'forbidden' }))
  expect(await configure(null, 'nobodys')).toEqual(refused({ code: 'not_found' }))
  expect(await register(alice, 'kept', 'main')).toEqual(
    refused({ code: 'community', problem: 'not_available' }),
  )
  expect(await journalLength()).toBe(written)
  // all who ask for a name at once, and one gets it
  const asked = await Promise.all(
    [alice, bob, carol].map((actor) => register(actor, 'kept', 'one')),
  )
  expect(asked.map(({ kind }) => kind).sort()).toEqual(['made', 'refused', 'refused'])
  expect(await journalLength()).toBe(written + 1)
})

test('signed changes that rest on what a rewind takes back stay as entries without effect, and are reported', async () => {
  await bid(alice, 'lost', 50)
  const first = await journalLength()
  const rename: ClusterChange = {
    kind: 'rename_wallets',
    actor: alice,
    wallets: [{ address: alice, name: 'ali' }],
  }
  expect(await make(rename)).toMatchObject({ kind: 'made' })
  const added = await make({
    kind: 'add_wallets',
    actor: bob,
    wallets: [
      { address: alice, name: 'alice', isPrivate: false },
      { address: carol, name: 'carol', isPrivate: true },
    ],
  })
  if (added.kind !== 'made') throw new Error(added.kind)
  // moves the name that will be gone
  expect(
    await make({ kind: 'verify_wallet', actor: alice, clusterId: added.clusterId! }),
  ).toMatchObject({
    kind: 'made',
  })
  expect(
    await make({ kind: 'verify_wallet', actor: carol, clusterId: added.clusterId! }),
  ).toMatchObject({
    kind: 'made',
  })
  expect(await configure(carol, 'lost')).toMatchObject({ kind: 'made' })
  expect(await register(dave, 'lost', 'dave')).toMatchObject({ kind: 'made' })
  expect(await configure(carol, 'kept', true)).toMatchObject({ kind: 'made' })
  const before = await replayJournal(pool, 'mainnet')
  expect(before.rebuilt).toBe(before.live)

  const target = { row, isHub: true, block: 40, parentHash: Buffer.alloc(32, 1), parentMs: 39_000 }
  const dry = await rewindJournal(pool, target, { apply: false })
  expect((await replayJournal(pool, 'mainnet')).live).toBe(before.live)
  const report = await rewindJournal(pool, target, { apply: true })
  expect({ ...report, generation: null }).toEqual({ ...dry, generation: null })
  expect(report.withoutEffect).toEqual({
    count: 3,
    first: [
      { seq: first + 1, kind: 'rename_wallets' },
      { seq: first + 5, kind: 'configure_community' },
      { seq: first + 6, kind: 'register_community_name' },
    ],
  })
  expect(report.names.first.filter(({ to }) => to === null).map(({ name }) => name)).toEqual([
    'lost',
  ])

  const { rows } = await pool.query(
    'SELECT seq, kind, octet_length(effects) AS effects, public_count FROM journal WHERE generation = 2 ORDER BY seq',
  )
  expect(rows).toHaveLength(first + 6)
  expect(
    rows
      .filter(({ effects }) => effects === 0)
      .map(({ kind, public_count }) => [kind, public_count]),
  ).toEqual([
    [18, 0],
    [22, 0],
    [23, 0],
  ])
  expect((await pool.query('SELECT name, seq FROM communities ORDER BY seq')).rows).toEqual([
    { name: 'kept', seq: 2 },
    { name: 'kept', seq: first + 6 },
  ])
  expect((await pool.query('SELECT community, name FROM community_names')).rows).toEqual([
    { community: 'kept', name: 'one' },
  ])
  const view = await findClusterById(pool, 'mainnet', added.clusterId!, carol)
  expect(
    view!.wallets.map(({ name, isVerified, isPrivate }) => [name, isVerified, isPrivate]),
  ).toEqual([
    ['main', true, false],
    ['alice', true, false],
    ['carol', true, true],
  ])
  const after = await replayJournal(pool, 'mainnet')
  expect(after).toMatchObject({ generation: 2, rebuilt: after.live })
})

test('no change is taken until the new generation has been caught up', async () => {
  expect(await make({ kind: 'create_cluster', actor: carol })).toEqual({ kind: 'catching_up' })
  expect(await configure(null, 'kept')).toEqual({ kind: 'catching_up' })
  await pool.query('UPDATE journal_heads SET caught_up = true')
  expect(await make({ kind: 'create_cluster', actor: carol })).toMatchObject({ kind: 'made' })
})

test('a change reads the rules in force alone, however many there were: all others wait for the lock', async () => {
  await pool.query('UPDATE journal_heads SET caught_up = true')
  await bid(bob, 'ruled', 200)
  for (let n = 0; n < 6; n++)
    expect(await configure(bob, 'ruled', n % 2 === 1)).toMatchObject({ kind: 'made' })
  const asked = vi.spyOn(pg.Client.prototype, 'query')
  await register(bob, 'ruled', 'one')
  await configure(bob, 'ruled')
  const isOfRules = ([sent]: readonly unknown[]) =>
    String(Object(sent).text).includes('k(name, since)')
  const results = asked.mock.results.filter((_, i) => isOfRules(asked.mock.calls[i]!))
  asked.mockRestore()
  const read = await Promise.all(
    results.map(({ value }) => value as unknown as Promise<pg.QueryResult>),
  )
  expect(read.map(({ rows }) => rows.length)).toEqual([1, 1])
})
