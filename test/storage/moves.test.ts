import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { type ChainRow, registerChain } from '../../src/db/chains/chains.js'
import { appendEntries } from '../../src/db/journal/append.js'
import { appendSignedChanges } from '../../src/db/journal/appendSignedChanges.js'
import { LostLeadershipError } from '../../src/db/journal/head.js'
import { moveNextNames } from '../../src/db/journal/moves.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { rewindJournal } from '../../src/db/journal/rewind/index.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { findClusterByName } from '../../src/db/registry/clusters.js'
import { findNamesOfAddresses, findWalletsByNames } from '../../src/db/registry/lookups.js'
import { findOwnedNames } from '../../src/db/registry/owners.js'
import type { ClusterChange } from '../../src/registry/journal/change.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { addressToWord } from '../../src/registry/primitives/address.js'
import { bigIntToWord } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { useDatabase } from '../support/database.js'

/** Names of one cluster; the n-th is from block n. */
const NAMES = 3_500
const database = useDatabase()
const wallet = (n: number): Buffer => Buffer.of(1, ...Buffer.alloc(20, n))
const alice = wallet(0xa1)
const bob = wallet(0xb0)
const carol = wallet(0xca)
let pool: pg.Pool
let row: ChainRow
let left: Buffer
let entered: Buffer

beforeAll(async () => {
  pool = database.pool
  const chain = {
    network: 'mainnet',
    label: '1',
    instance: '',
    family: 'evm',
    chainId: 31_337,
    startBlock: 0,
  } as const
  row = await registerChain(pool, {
    ...chain,
    genesisHash: Buffer.alloc(32),
    contract: Buffer.alloc(20),
  })
  await pool.query('UPDATE chains SET next_block = 10000')
  await pool.query('UPDATE journal_heads SET caught_up = true')
  await bidFor(
    Array.from({ length: NAMES }, (_, i) => ({ from: alice, name: `name-${i + 1}`, block: i + 1 })),
  )
  const one = (address: Buffer, name: string) => [{ address, name, isPrivate: false }]
  left = await make({ kind: 'add_wallets', actor: alice, wallets: one(carol, 'carol') })
  entered = await make({ kind: 'add_wallets', actor: bob, wallets: one(alice, 'alice') })
})

async function bidFor(
  bids: readonly { from: Buffer; name: string; block: number }[],
): Promise<void> {
  const entries = bids.map(({ from, name, block }) => {
    const body = Buffer.concat([
      Buffer.alloc(32, 1),
      addressToWord(from),
      bigIntToWord(5n),
      nameToWord(name),
    ])
    const position = { chain: row.chain, block, logIndex: 0 }
    return decodeEntry({ kind: 'bid', position, txKey: 1n, causeMs: block, body })
  })
  await inTransaction(pool, (client) => appendEntries(client, 'mainnet', entries, {}))
}

const ask = (change: ClusterChange) =>
  appendSignedChanges(pool, { network: 'mainnet', changes: [change] })

async function make(change: ClusterChange): Promise<Buffer> {
  const made = await ask(change)
  if (made.kind !== 'made') throw new Error(JSON.stringify(made))
  return made.clusterId!
}

const slice = (epoch = 0) => moveNextNames({ pool, network: 'mainnet', epoch })
const rowsLeft = async (): Promise<number> => {
  const { rows } = await pool.query(
    'SELECT count(*)::int AS n FROM names n JOIN moves m ON m.network = n.network AND m.source = n.cluster',
  )
  return rows[0].n
}

/** Look-ups of some of the names, the list of all, and wallets. */
async function answers() {
  const names = ['name-1', `name-${NAMES / 2}`, `name-${NAMES}`]
  const all = await findOwnedNames(pool, 'mainnet', alice, { after: 0, limit: 10_000 })
  const clusters = await Promise.all(names.map((name) => findClusterByName(pool, 'mainnet', name)))
  return {
    ids: clusters.map((cluster) => cluster!.id),
    listed: all.map(({ name, clusterId }) => [name, clusterId]),
    resolved: await findWalletsByNames(
      pool,
      'mainnet',
      names.map((cluster) => ({ cluster, wallet: null })),
    ),
    named: await findNamesOfAddresses(pool, 'mainnet', [alice, bob, carol]),
  }
}

async function expectReplay(): Promise<void> {
  const { live, rebuilt } = await replayJournal(pool, 'mainnet')
  expect(rebuilt).toBe(live)
}

describe(`${NAMES} names that move`, () => {
  let before: Awaited<ReturnType<typeof answers>>

  it('belong to their new cluster at once, and a thousand rows are moved', async () => {
    expect(await make({ kind: 'verify_wallet', actor: alice, clusterId: entered })).toEqual(entered)
    expect(await rowsLeft()).toBe(NAMES - 1_000)
    before = await answers()
    expect(before.ids).toEqual([entered, entered, entered])
    expect(before.listed).toHaveLength(NAMES)
    expect(before.named.map((hit) => hit?.clusterName ?? null)).toEqual(['name-1', 'name-1', null])
  })

  it('allow no wallet into the cluster that they leave, and keep a verified wallet in the target', async () => {
    const moving = { kind: 'refused', refusal: { code: 'names_moving' } }
    expect(await ask({ kind: 'verify_wallet', actor: carol, clusterId: left })).toMatchObject(
      moving,
    )
    // names registered meanwhile belong to the target
    await bidFor([{ from: alice, name: 'meanwhile', block: 9_000 }])
    const { listed } = await answers()
    expect(listed.at(-1)).toEqual(['meanwhile', entered])
    before = await answers()
  })

  it('move a thousand rows at a time, under any leader and after any interruption, and no look-up changes', async () => {
    await expect(slice(7)).rejects.toThrow(LostLeadershipError)
    // kill a leader that waits for the lock of the head
    const holder = await pool.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM journal_heads WHERE network = 0 FOR UPDATE')
    const cut = slice().then(
      () => 'moved',
      () => 'cut',
    )
    const waiting =
      "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid <> pg_backend_pid()"
    let pid: number | undefined
    while (pid === undefined) pid = (await pool.query(waiting)).rows[0]?.pid
    await pool.query('SELECT pg_terminate_backend($1)', [pid])
    expect(await cut).toBe('cut')
    await holder.query('ROLLBACK')
    holder.release()
    expect(await rowsLeft()).toBe(NAMES - 1_000)
    for (const rest of [NAMES - 2_000, NAMES - 3_000]) {
      expect(await slice(), `to ${rest}`).toMatchObject({ names: 1_000, isLast: false })
      expect(await rowsLeft()).toBe(rest)
      expect(await answers(), `at ${rest}`).toEqual(before)
    }
    await expectReplay()
    expect(await slice()).toMatchObject({ names: NAMES - 3_000, isLast: true })
    expect(await slice()).toBeNull()
    expect(await answers()).toEqual(before)
    // the cluster can take part in changes again
    expect(await make({ kind: 'verify_wallet', actor: carol, clusterId: left })).toEqual(left)
  })

  it('are moved by the same slices after a rewind, some of which find no names left', async () => {
    const target = { row, isHub: true, block: 2_501, parentHash: Buffer.alloc(32, 1), parentMs: 0 }
    const report = await rewindJournal(pool, target, { apply: true })
    expect(report.withoutEffect.first).toEqual([])
    expect((await pool.query('SELECT count(*)::int AS n FROM moves')).rows).toEqual([{ n: 0 }])
    const all = await findOwnedNames(pool, 'mainnet', alice, { after: 0, limit: 10_000 })
    expect(all.map(({ name }) => name)).toEqual(
      Array.from({ length: 2_500 }, (_, i) => `name-${i + 1}`),
    )
    const elsewhere = all.filter(({ clusterId }) => !clusterId.equals(entered))
    expect(elsewhere).toEqual([])
    const slices = await pool.query(
      'SELECT public_count FROM journal WHERE generation = 2 AND kind = 25 ORDER BY seq',
    )
    expect(slices.rows.map(({ public_count }) => public_count)).toEqual([1_000, 500, 0])
    await expectReplay()
  })

  it('wait until the network is caught up', async () => {
    await pool.query('UPDATE journal_heads SET caught_up = false')
    expect(await slice()).toBeNull()
  })
})
