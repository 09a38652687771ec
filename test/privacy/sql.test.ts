import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { insertConfirmedCredits } from '../../src/db/bridge/credits.js'
import { hideSqlFeedCopy } from '../../src/db/feed/feed.js'
import { createSqlFeedCopyWorker } from '../../src/push/sql.js'
import { EVENTS, type EventType, type MirrorState } from '../../src/registry/journal/eventTypes.js'
import { decodeWallet } from '../../src/registry/primitives/address.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import type { Network } from '../../src/registry/primitives/network.js'
import { type ApiWorld, bid, freshName, randomAddress, startApi } from '../api/support.js'
import { solanaAccount } from '../api/wallets.js'
import { readEpoch } from '../support/epoch.js'
import { insertPayment } from '../support/payments.js'
import { bytesOf } from './observedApi.js'
import { FOO, live, WALLETS } from './twins.js'

/** The views of `registry_v1` in two registries with one public history. The first also has private wallets. */
let twins: [ApiWorld, ApiWorld]
/** Connections of the role that docs/use/sql.md describes. */
let readers: [pg.Client, pg.Client]

const docs = readFileSync('docs/use/sql.md', 'utf8')
const { signal } = new AbortController()
const run = process.env.VITEST_POOL_ID ?? '0'

/** View of the state that each change of a mirror writes. */
const VIEW_OF: Record<keyof MirrorState, string> = {
  createCluster: 'clusters',
  addWallet: 'wallets',
  changeWallet: 'wallets',
  removeWallet: 'wallets',
  registerName: 'names',
  transferName: 'names',
  registerCommunityName: 'community_names',
}

/** Views that events of a type change besides `events`. */
function viewsOf(type: EventType): string[] {
  const views: string[] = []
  const record = (view: string) => () => void views.push(view)
  const changes = Object.entries(VIEW_OF).map(([change, view]) => [change, record(view)])
  EVENTS[type].apply(Object.fromEntries(changes), {} as never)
  return views
}

const copyStep = async ({ pool }: ApiWorld, network: Network = 'mainnet') =>
  createSqlFeedCopyWorker({ pool, network, epoch: await readEpoch(pool, network, 'index') }).step(
    signal,
    () => {},
  )

async function copy(world: ApiWorld, network?: Network): Promise<void> {
  while ((await copyStep(world, network)) !== 'idle');
  await world.pool.query('ANALYZE feed_events')
}

/** Creates the role as the page describes it, and connects as this role. */
async function readerOf({ pool }: ApiWorld): Promise<pg.Client> {
  const sql = /```sql\n(CREATE ROLE[^`]*)```/
    .exec(docs)![1]!
    .replaceAll('analyst', `analyst_${run}`)
  await pool.query(sql)
  const url = new URL(pool.options.connectionString!)
  Object.assign(url, { username: `analyst_${run}`, password: 'secret' })
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  return client
}

beforeAll(async () => {
  twins = [await startApi(), await startApi()]
  for (const { pool } of twins) await pool.query('ALTER SYSTEM SET autovacuum = off')
  for (const { pool } of twins) await pool.query('SELECT pg_reload_conf()')
  await Promise.all([live(twins[0], true), live(twins[1], false)])
  await Promise.all(twins.map((world) => copy(world)))
  readers = [await readerOf(twins[0]), await readerOf(twins[1])]
})
afterAll(async () => {
  await Promise.all(readers.map((reader) => reader.end()))
  await Promise.all(twins.map((world) => world.stop()))
})

/** Rows of a statement, or its error, in both registries. */
const both = (sql: string) =>
  Promise.all(
    readers.map((reader) =>
      reader.query(sql).then(
        ({ rows }) => rows as unknown[],
        ({ message }: Error) => message,
      ),
    ),
  )
/** Runs the page's statements that restrict what a superuser can restrict. */
async function restrict({ pool }: ApiWorld): Promise<void> {
  const { database } = (await pool.query('SELECT current_database() AS database')).rows[0]
  const sql = /```sql\n(REVOKE TEMPORARY[^`]*)```/
    .exec(docs)![1]!
    .replace('ON DATABASE clusterd', `ON DATABASE "${database}"`)
  await pool.query(sql)
}

const rowsOf = async (sql: string) => (await readers[0].query(sql)).rows

const COLUMNS = `SELECT table_name AS view, column_name AS column, data_type AS type FROM information_schema.columns
  WHERE table_schema = 'registry_v1' ORDER BY table_name, ordinal_position`

it.each((Object.keys(EVENTS) as EventType[]).map((type) => ({ type, views: viewsOf(type) })))(
  'events of the type $type change the views $views',
  async ({ type, views }) => {
    const { rows } = await twins[0].pool.query<{ viewname: string }>(
      "SELECT viewname FROM pg_views WHERE schemaname = 'registry_v1' AND definition LIKE $1",
      [`%'${type}'%`],
    )
    expect(rows.map(({ viewname }) => viewname)).toEqual(views)
  },
)

describe('registry_v1', () => {
  it('has the views, columns and types that its page lists', async () => {
    const page = [...docs.matchAll(/^### `(\w+)`\n([\s\S]*?)(?=^##|$(?![\s\S]))/gm)].flatMap(
      ([, view, text]) =>
        [...text!.matchAll(/^\| `(\w+)` \| ([\w ]+) \|/gm)].map(([, column, type]) => ({
          view,
          column,
          type,
        })),
    )
    const found = await rowsOf(COLUMNS)
    // information_schema sorts by bytes; the sort is stable, so columns keep their order
    const views = [...new Set(page.map(({ view }) => view!))].sort()
    const inOrder = page.toSorted((a, b) => views.indexOf(a.view!) - views.indexOf(b.view!))
    expect(inOrder).toEqual(found)
  })

  it('returns the same data as the API', async () => {
    const [world] = twins
    const id = toHex(FOO)
    const { body } = await world.get(`/v1/clusters/id/${id}`)
    const wallets = await rowsOf(`SELECT address, name, is_verified AS "isVerified"
      FROM registry_v1.wallets WHERE cluster_id = '${id}' ORDER BY added_at, address`)
    const given = body.wallets.map(({ address, name, isVerified }: Record<string, unknown>) => ({
      address,
      name,
      isVerified,
    }))
    expect(wallets).toHaveLength(given.length)
    expect(wallets).toEqual(expect.arrayContaining(given))
    const owned = (await world.get(`/v1/names/owner/address/${WALLETS.alice}`)).body
    expect(owned.length).toBeGreaterThan(0)
    for (const { name, totalWeiAmount, clusterId } of owned) {
      const sql = `SELECT wei_amount::text AS "totalWeiAmount", cluster_id AS "clusterId" FROM registry_v1.names WHERE name = '${name}'`
      expect(await rowsOf(sql), name).toEqual([{ totalWeiAmount, clusterId }])
    }
    const events = await rowsOf(
      'SELECT number::int, type, actor, data FROM registry_v1.events ORDER BY number',
    )
    const { items } = (await world.get('/v1/events?limit=1000')).body
    expect(events).toEqual(
      items.map(({ id, type, from, data }: { id: string } & Record<string, unknown>) => ({
        number: Number(id.split('-')[2]),
        type,
        actor: from,
        data,
      })),
    )
    const below = await rowsOf(
      `SELECT community, name, address FROM registry_v1.community_names ORDER BY name`,
    )
    expect(below).toEqual([
      { community: 'foo', name: 'bobs', address: WALLETS.bob },
      { community: 'foo', name: 'pats', address: WALLETS.pat },
    ])
    expect(await rowsOf('SELECT * FROM registry_v1.communities')).toEqual([
      { network: 'mainnet', name: 'foo' },
    ])
  })

  it('reveals private wallets by no row, plan, statistic or error', async () => {
    const columns = await rowsOf(COLUMNS)
    const values = [
      ...Object.values(WALLETS),
      toHex(FOO),
      'foo',
      'secret',
      'cold-3',
      'main',
      'mainnet',
      '3',
      '',
    ]
    const query = fc
      .tuple(
        fc.constantFrom(...columns),
        fc.constantFrom('=', '<>', '<', '>='),
        fc.constantFrom(...values),
        fc.constantFrom('*', 'count(*)', 'min(network)', '1 / (length(network) - 7)'),
        fc.subarray(['indexscan', 'bitmapscan', 'seqscan', 'hashagg', 'sort']),
      )
      .map(([{ view, column }, operator, value, shown, off]) => ({
        off: off.map((kind) => `SET enable_${kind} = off`),
        sql: `SELECT ${shown} FROM registry_v1.${view} WHERE ${column}::text ${operator} '${value}'`,
      }))
    const asked = fc.asyncProperty(query, async ({ off, sql }) => {
      const plan = `EXPLAIN (ANALYZE, BUFFERS OFF, TIMING OFF, SUMMARY OFF) ${sql}`
      for (const statement of [...off, sql, plan]) {
        const [hiding, plain] = await both(statement)
        expect(hiding, statement).toEqual(plain)
      }
      await both('RESET ALL')
    })
    await fc.assert(asked, { numRuns: 300 })
    const [hiding, plain] =
      await both(`SELECT tablename, attname, n_distinct, most_common_vals::text FROM pg_stats
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2`)
    expect(hiding).toEqual(plain)
  })

  it.each([
    ['a lock of the migration', 'SELECT pg_advisory_lock(1)', 'permission denied for function'],
    ['a lock that it tries', 'SELECT pg_try_advisory_xact_lock(1, 2)', 'permission denied'],
    ['a large object', 'SELECT lo_create(0)', 'permission denied for function lo_create'],
    ['bytes of one', "SELECT lo_from_bytea(0, '')", 'permission denied for function'],
    ['a notification', "SELECT pg_notify('clusterd', 'mainnet')", 'permission denied'],
    ['a temporary table', 'CREATE TEMP TABLE t (a int)', 'permission denied'],
    ['a table', 'CREATE TABLE t (a int)', 'permission denied'],
  ])('denies its role %s', async (_, sql, refusal) => {
    await restrict(twins[0])
    expect((await both(sql))[0]).toContain(refusal)
    // the second registry is not restricted: release its lock
    await readers[1].query('SELECT pg_advisory_unlock_all()')
  })

  it('has a statement limit', async () => {
    expect(await rowsOf('SHOW statement_timeout')).toEqual([{ statement_timeout: '30s' }])
  })

  it('is everything that its role can read', async () => {
    const { rows } = await twins[0].pool.query(
      `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`,
    )
    expect(rows.length).toBeGreaterThan(20)
    for (const { tablename } of rows)
      expect((await both(`SELECT FROM "${tablename}"`))[0], tablename).toMatch(/^permission denied/)
    expect((await both('CREATE TABLE mine ()'))[0]).toMatch(/^permission denied/)
  })

  it('shows what is owed: credits of the hub, and payments whose time has passed', async () => {
    const { pool } = twins[0]
    const evm = `0x${'0e'.repeat(20)}`
    const solana = solanaAccount(Buffer.alloc(32, 5)).address
    const credit = { wallet: bytesOf(evm), eid: 30_101, txHash: Buffer.alloc(32) }
    await insertConfirmedCredits(pool, 'mainnet', [
      { ...credit, block: 1, logIndex: 0, amountWei: 5n },
      { ...credit, block: 1, logIndex: 1, amountWei: -2n },
      { ...credit, wallet: bytesOf(WALLETS.bob), block: 2, logIndex: 0, amountWei: 1n },
      { ...credit, wallet: bytesOf(WALLETS.bob), block: 3, logIndex: 0, amountWei: -1n },
    ])
    await pool.query(`INSERT INTO chains (network, chain, label, instance, family, contract, next_block)
      VALUES (0, 9, 'solana', '', 'solana', '', 1) ON CONFLICT DO NOTHING`)
    const payer = bytesOf(solana).subarray(1)
    const late = await insertPayment(pool, { name: 'late', payer, lamports: 7n })
    await insertPayment(pool, { name: 'held', payer })
    await insertPayment(pool, { name: 'seen', payer, confirmed: false })
    const sql =
      'SELECT chain, payer, token, amount::text FROM registry_v1.refunds_owed ORDER BY chain'
    const credited = { chain: 'hub', payer: evm, token: null, amount: '3' }
    expect(await rowsOf(sql)).toEqual([credited])
    await pool.query(`UPDATE payments SET reclaimable_ms = 1 WHERE id = $1 OR name = 'seen'`, [
      late,
    ])
    expect(await rowsOf(sql)).toEqual([
      credited,
      { chain: 'solana', payer: solana, token: 'native', amount: '7' },
    ])
  })

  it('writes addresses as the API does', async () => {
    const key = fc.uint8Array({ minLength: 32, maxLength: 32 })
    const wide = fc.tuple(fc.nat(32), key).map(([zeros, bytes]) => bytes.fill(0, 0, zeros))
    const asked = fc.asyncProperty(wide, async (bytes) => {
      const wallet = decodeWallet(Buffer.concat([Buffer.of(2), bytes]))
      const { rows } = await readers[0].query('SELECT registry_v1.address_text($1) AS text', [
        wallet.bytes,
      ])
      expect(rows).toEqual([{ text: wallet.text }])
    })
    await fc.assert(asked)
  })

  it('shows a restarted feed once its copy is complete', async () => {
    const [, world] = twins
    const shown = async (view = 'events') =>
      (await readers[1].query(`SELECT * FROM registry_v1.${view}`)).rows
    const before = await shown()
    const names = await shown('names')
    await world.pool.query('UPDATE journal_heads SET feed_generation = feed_generation + 1')
    const from = randomAddress()
    await world.append(
      'mainnet',
      Array.from({ length: 600 }, () => bid({ from, name: freshName() })),
    )
    await copyStep(world)
    expect([await shown(), await shown('names')]).toEqual([before, names])
    await copy(world)
    expect(await shown('names')).toHaveLength(names.length + 600)
    const generations = new Set((await shown()).map(({ generation }) => generation))
    expect([...generations]).toEqual([2])
  })

  it('is empty when the new feed has no event, and says how to turn it on while nothing is copied', async () => {
    const [, { pool }] = twins
    const shown = async (network: string) =>
      (await readers[1].query('SELECT FROM registry_v1.events WHERE network = $1', [network]))
        .rowCount
    await pool.query(`INSERT INTO feed_events (network, generation, number, type, actor, at_ms, data)
      VALUES (1, 0, 1, 'CREATE_CLUSTER', '', 0, '{}')`)
    await pool.query('INSERT INTO feed_shown (network, generation) VALUES (1, 0)')
    await pool.query('UPDATE journal_heads SET caught_up = true WHERE network = 1')
    expect(await shown('testnet')).toBe(1)
    await copy(twins[1], 'testnet')
    expect(await shown('testnet')).toBe(0)
    await hideSqlFeedCopy(pool, 'testnet')
    expect(await shown('mainnet'), 'beside a network without events').toBeGreaterThan(600)
    await pool.query('UPDATE journal_heads SET public_seq = 1 WHERE network = 1')
    await expect(shown('testnet')).rejects.toThrow(
      'is not copied: start clusterd with SQL_VIEWS=on',
    )
    await pool.query('UPDATE journal_heads SET public_seq = 0 WHERE network = 1')
    await copy(twins[1], 'testnet')
    await hideSqlFeedCopy(pool, 'mainnet')
    await expect(shown('testnet')).rejects.toThrow('is not copied')
    await hideSqlFeedCopy(pool, 'testnet')
    for (const view of ['events', 'clusters', 'names', 'wallets', 'community_names'])
      await expect(readers[1].query(`SELECT FROM registry_v1.${view}`), view).rejects.toThrow(
        'start clusterd with SQL_VIEWS=on',
      )
    expect((await readers[1].query('SELECT FROM registry_v1.communities')).rowCount).toBe(1)
    await copy(twins[1])
    expect(await shown('mainnet')).toBeGreaterThan(600)
  })
})
