import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Client } from '../../src/client/index.js'
import { createPool } from '../../src/db/pg/pool.js'
import { Loops } from '../../src/ops/loops.js'
import { readinessOf } from '../../src/status.js'
import { type Postgres, startPostgres } from '../../src/testing/processes/postgres.js'
import { type Member, memberOf } from '../api/members.js'
import { type ApiWorld, bid, freshName, randomAddress, secondApi, startApi } from '../api/support.js'
import { restartReplica, startReplica } from '../support/replica.js'

/** The API with a standby that really streams: what it lacks, when it is away, and when it is no standby any more. */

const DEADLINE = { timeout: 20_000, interval: 50 }
const home = mkdtempSync(join(tmpdir(), 'clusterd-replica-'))
let world: ApiWorld
let standby: Postgres
let pool: pg.Pool
let api: Awaited<ReturnType<typeof secondApi>>
let member: Member
let clusterId: string

beforeAll(async () => {
  world = await startApi()
  standby = await startReplica(world.postgres, join(home, 'pg'))
  pool = createPool({ url: standby.url, max: 4, applicationName: 'test', isByIndex: true })
  api = await secondApi(world, { replicas: [{ name: 'standby', pool }] })
  member = await memberOf({ ...world, request: (path, init) => call(path, init) })
})
afterAll(async () => {
  await api?.stop()
  await pool?.end()
  await standby?.stop()
  await world?.stop()
  rmSync(home, { recursive: true, force: true })
})

const isUsed = () => api.replicas()[0]!.isUsed
const onStandby = (text: string) => pool.query(text)

async function call(path: string, init: RequestInit = {}) {
  const response = await fetch(`${api.url}${path}`, init)
  return { status: response.status, body: JSON.parse(await response.text()), headers: response.headers }
}

const NOBODY = {
  ...{ config: { chains: [], solana: {}, roles: ['api' as const] }, loops: new Loops(), runs: [], relays: [] },
  ...{ relayed: new Set<'mainnet'>(), isStopping: false },
}

/** The name of the member's own wallet, read without a key. */
const nameOf = async (headers: Record<string, string> = {}): Promise<string | undefined> => {
  const { body } = await call(`/v1/clusters/id/${clusterId}`, { headers })
  return body.wallets?.find(({ address }: { address: string }) => address === member.address)?.name
}
const renamed = async (name: string): Promise<string> => {
  const { status, headers } = await member.rename(member.address, name)
  expect(status).toBe(200)
  return headers.get('x-clusterd-position')!
}

it('a wallet that has just changed reads what it wrote; others read what the replica has, for two seconds at most', async () => {
  await expect.poll(isUsed, DEADLINE).toBe(true)
  clusterId = await member.create()
  const before = await renamed('before')
  await expect.poll(() => nameOf(), DEADLINE).toBe('before')
  expect(await nameOf({ 'x-clusterd-position': before })).toBe('before')
  await onStandby('SELECT pg_wal_replay_pause()')
  const position = await renamed('after')
  expect(await nameOf()).toBe('before')
  expect(await nameOf({ 'x-clusterd-position': position })).toBe('after')
  expect(await nameOf({ 'x-clusterd-position': 'made-up' })).toMatch(/before|after/)
  await expect.poll(() => nameOf(), DEADLINE).toBe('after')
  expect(api.replicas()[0]).toMatchObject({ isUsed: false, lagMs: expect.any(Number) })
  await onStandby('SELECT pg_wal_replay_resume()')
  await expect.poll(isUsed, DEADLINE).toBe(true)
  expect(await nameOf({ 'x-clusterd-position': position })).toBe('after')
})

it.each(['?testnet=true', ''])(
  'a registration%s that names the testnet in its body gives a place in the testnet’s journal',
  async (query) => {
    const club = freshName()
    await world.append('testnet', [bid({ from: member.address, name: club, atMs: Date.now() })])
    expect((await member.call('PUT', `/v1/communities/${club}?testnet=true`, {})).status).toBe(200)
    await expect.poll(async () => (await call(`/v0.1/cluster/${club}?testnet=true`)).body, DEADLINE).not.toBeNull()
    await onStandby('SELECT pg_wal_replay_pause()')
    const wish = { name: 'alice', network: '11155111' }
    const { status, headers } = await member.call('POST', `/v1/names/community/${club}/register${query}`, wish)
    expect(status).toBe(200)
    const known = { headers: { 'x-clusterd-position': headers.get('x-clusterd-position')! } }
    const { body } = await call(`/v0.1/address/${club}/alice?testnet=true`, known)
    await onStandby('SELECT pg_wal_replay_resume()')
    expect(body).toMatchObject({ address: member.address })
  },
)

it('the client carries what it has changed from answer to question', async () => {
  const client = new Client({ url: api.url, token: member.headers.authorization!.replace('Bearer ', '') })
  await onStandby('SELECT pg_wal_replay_pause()')
  await client.request('PUT', '/v1/clusters/wallets/names', { body: [{ address: member.address, name: 'carried' }] })
  const read = () => client.request('GET', '/v1/clusters/id/{id}', { params: { id: clusterId } })
  const seen = JSON.stringify(await read())
  await onStandby('SELECT pg_wal_replay_resume()')
  expect(seen).toContain('carried')
})

it('a walk through the feed goes on where it was, whichever server answers', async () => {
  await expect.poll(isUsed, DEADLINE).toBe(true)
  const first = await call('/v1/events?orderBy=oldest&limit=100')
  await onStandby('SELECT pg_wal_replay_pause()')
  for (const name of ['one', 'two', 'three']) await renamed(name)
  // the token of the primary's end leads past what the replica has
  const ahead = await world.get(`/v1/events?nextPage=${encodeURIComponent(first.body.resume)}`)
  expect(ahead.body.items).toHaveLength(3)
  const after = await call(`/v1/events?nextPage=${encodeURIComponent(ahead.body.resume)}`)
  await onStandby('SELECT pg_wal_replay_resume()')
  expect([after.status, after.body.items]).toEqual([200, []])
  const whole = await call(`/v1/events?nextPage=${encodeURIComponent(first.body.resume)}`, {
    headers: { 'x-clusterd-position': await renamed('four') },
  })
  expect(whole.body.items.slice(0, 3)).toEqual(ahead.body.items)
  expect(whole.body.items).toHaveLength(4)
})

it('a change that is made is answered, whether its place in the journal can be read or not', async () => {
  const gone = createPool({ url: 'postgresql://postgres@127.0.0.1:1/none', max: 1, applicationName: 'test' })
  const other = await secondApi(world, { replicas: [{ name: 'standby', pool }], watchPool: gone })
  const body = JSON.stringify([{ address: member.address, name: 'placeless' }])
  const init = { method: 'PUT', headers: member.headers, body }
  const response = await fetch(`${other.url}/v1/clusters/wallets/names`, init)
  expect([response.status, response.headers.get('x-clusterd-position')]).toEqual([200, null])
  await other.stop()
  await gone.end()
})

it('a page that begins with what the replica has not got comes from the primary', async () => {
  await expect.poll(isUsed, DEADLINE).toBe(true)
  await onStandby('SELECT pg_wal_replay_pause()')
  const [from, name] = [randomAddress(), freshName()]
  await world.append('mainnet', [bid({ from, name })])
  const { status, body } = await call(`/v1/names/owner/address/${from}?after=${name}`)
  await onStandby('SELECT pg_wal_replay_resume()')
  expect([status, body]).toEqual([200, []])
})

it('nobody notices a replica that is gone, and it is taken up again', async () => {
  await expect.poll(isUsed, DEADLINE).toBe(true)
  await standby.stop()
  for (let i = 0; i < 20; i++) expect((await call(`/v1/clusters/address/${member.address}`)).status).toBe(200)
  await expect.poll(isUsed, DEADLINE).toBe(false)
  standby = await restartReplica(world.postgres, join(home, 'pg'), standby.port)
  await expect.poll(isUsed, DEADLINE).toBe(true)
})

it('one that follows nobody is passed over: it may have what its primary has lost', async () => {
  await expect.poll(isUsed, DEADLINE).toBe(true)
  const cutOff = async () => {
    await world.pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_replication')
    return isUsed()
  }
  await expect.poll(cutOff, DEADLINE).toBe(false)
  await expect.poll(isUsed, DEADLINE).toBe(true)
})

it('while the primary is away look-ups go on, of names that nobody has too, and the feed waits', async () => {
  const { rows } = await world.pool.query<{ dataDir: string }>(`SELECT current_setting('data_directory') AS "dataDir"`)
  const late = await startReplica(world.postgres, join(home, 'late'))
  const latePool = createPool({ url: late.url, max: 2, applicationName: 'test', isByIndex: true })
  const behind = { name: 'late', pool: latePool }
  const both = await secondApi(world, { replicas: [behind, { name: 'standby', pool }] })
  const alone = await secondApi(world, { replicas: [behind] })
  await latePool.query('SELECT pg_wal_replay_pause()')
  await renamed('not-there-yet')
  const used = () => [both, alone].map((one) => one.replicas().map((replica) => replica.isUsed))
  await expect.poll(used, DEADLINE).toEqual([[false, true], [false]])
  const ready = async (hasReplica: boolean) => (await readinessOf({ ...NOBODY, pool: world.pool, hasReplica })).isGood
  await world.postgres.stop()
  // the one that lacks something is for a process that has no other
  await expect.poll(used, DEADLINE).toEqual([[false, true], [true]])
  await expect.poll(async () => [await ready(isUsed()), await ready(false)], DEADLINE).toEqual([true, false])
  for (const { stop } of [both, alone]) await stop()
  await latePool.end()
  await late.stop()
  const unknown = async () => (await call('/v1/clusters/name/nobody-has-this')).status
  const feed = async () => (await call('/v1/events?orderBy=oldest')).status
  await expect.poll(async () => [await unknown(), await feed()], DEADLINE).toEqual([404, 503])
  for (let i = 0; i < 10; i++) {
    expect((await call(`/v1/clusters/address/${member.address}`)).status).toBe(200)
    expect([await unknown(), await feed()]).toEqual([404, 503])
  }
  world.postgres = await startPostgres({ ...rows[0]!, port: world.postgres.port })
  await expect.poll(feed, DEADLINE).toBe(200)
  await expect.poll(isUsed, DEADLINE).toBe(true)
})

it('one that was promoted is no replica any more', async () => {
  await onStandby('SELECT pg_promote()')
  await expect.poll(isUsed, DEADLINE).toBe(false)
  await renamed('of the primary'.replaceAll(' ', '-'))
  expect(await nameOf()).toBe('of-the-primary')
})
