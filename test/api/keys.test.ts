import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import * as keysCommand from '../../src/cli/keys/keys.js'
import { addApiKey, MAX_API_KEYS } from '../../src/db/auth/apiKeys.js'
import { apiKeyHash, apiKeyText } from '../../src/registry/auth/apiKey.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { type Member, memberOf } from './members.js'
import { limitsOf, type Reply, secondApi, startApi, stillBucket, useApi } from './support.js'

const LIMITS = limitsOf(2_000, { key: stillBucket(100) })

const world = useApi({ limits: LIMITS, trustProxy: 1 })

const make = (member: Member, name = 'my site') => member.call('POST', '/v1/keys', { name })
const ask = (key: string, address: string, url = world.url): Promise<Reply> =>
  fetch(`${url}/v1/networks`, { headers: { 'x-api-key': key, 'x-forwarded-for': address } }).then(
    async ({ status, headers, json: _, ...rest }) => ({ status, headers, body: rest }),
  )
const limits = ({ headers }: Reply) => headers.get('ratelimit')

describe('API keys of a wallet', () => {
  it('are shown once, and only their wallet lists, renames and revokes them', async () => {
    const member = await memberOf(world)
    const made = await make(member)
    expect([made.status, made.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    const { key, ...rest } = made.body
    expect(key).toMatch(/^ck_[1-9A-HJ-NP-Za-km-z]{43,44}$/)
    expect(rest).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      name: 'my site',
      createdAt: expect.any(String),
    })
    expect((await member.call('GET', '/v1/keys')).body).toEqual([rest])
    const { rows } = await world.pool.query('SELECT key_hash, wallet, name FROM api_keys')
    expect(rows.map(({ key_hash }) => key_hash)).toContainEqual(apiKeyHash(key))
    expect(JSON.stringify(rows)).not.toContain(key)

    const other = await memberOf(world)
    const path = `/v1/keys/${rest.id}`
    expect((await other.call('PATCH', path, { name: 'x' })).body.error).toBe('not_found')
    expect((await other.call('DELETE', path)).body.error).toBe('not_found')
    expect((await member.call('PATCH', `/v1/keys/${rest.id}`, { name: ' shop ' })).body).toEqual({
      ...rest,
      name: 'shop',
    })
    expect((await member.call('GET', '/v1/keys')).body).toEqual([{ ...rest, name: 'shop' }])
    expect((await member.call('DELETE', `/v1/keys/${rest.id}`)).body).toEqual({ success: true })
    expect((await member.call('GET', '/v1/keys')).body).toEqual([])
    expect((await member.call('DELETE', `/v1/keys/${rest.id}`)).status).toBe(404)
  })

  it.each(['made', 'renamed', 'revoked'])(
    'are not %s by a session that was revoked while they waited',
    async (change) => {
      const member = await memberOf(world)
      const { id } = (await make(member)).body
      const holder = await world.pool.connect()
      await holder.query('BEGIN')
      await holder.query('LOCK TABLE limit_buckets, api_keys')
      const path = `/v1/keys/${id}`
      const asked = {
        made: () => make(member),
        renamed: () => member.call('PATCH', path, { name: 'theirs' }),
        revoked: () => member.call('DELETE', path),
      }[change]!()
      const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
      await expect.poll(async () => (await world.pool.query(waiting)).rows[0].n).toBe(1)
      expect((await member.call('DELETE', '/v1/auth/token')).status).toBe(200)
      await holder.query('ROLLBACK')
      holder.release()
      expect((await asked).status).toBe(401)
      const { rows } = await world.pool.query('SELECT name FROM api_keys WHERE wallet = $1', [
        fromHex(`0x01${member.address.slice(2)}`),
      ])
      expect(rows).toEqual([{ name: 'my site' }])
    },
  )

  it('are renamed in the queue of changes, so that a burst leaves connections to look-ups', async () => {
    const member = await memberOf(world)
    const { id } = (await make(member)).body
    const holder = await world.pool.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM api_keys WHERE wallet = $1 FOR UPDATE', [
      fromHex(`0x01${member.address.slice(2)}`),
    ])
    const renames = Array.from({ length: 12 }, (_, i) =>
      member.call('PATCH', `/v1/keys/${id}`, { name: `name ${i}` }),
    )
    const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    const count = async () => {
      // a transaction keeps its first answer of pg_stat_activity
      await holder.query('SELECT pg_stat_clear_snapshot()')
      return (await holder.query(waiting)).rows[0].n
    }
    await expect.poll(count).toBe(3)
    for (let ask = 0; ask < 10; ask++) expect(await count()).toBe(3)
    await holder.query('ROLLBACK')
    holder.release()
    expect((await Promise.all(renames)).map(({ status }) => status)).toEqual(Array(12).fill(200))
  })

  it('are not made for a caller that disconnected while it waited in the queue', async () => {
    const member = await memberOf(world)
    const { id } = (await make(member)).body
    const holder = await world.pool.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM api_keys WHERE wallet = $1 FOR UPDATE', [
      fromHex(`0x01${member.address.slice(2)}`),
    ])
    const renames = Array.from({ length: 3 }, () =>
      member.call('PATCH', `/v1/keys/${id}`, { name: 'renamed' }),
    )
    const waiting = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    await expect.poll(async () => (await world.pool.query(waiting)).rows[0].n).toBe(3)
    const left = fetch(`${world.url}/v1/keys`, {
      method: 'POST',
      headers: member.headers,
      body: '{"name":"gone"}',
      signal: AbortSignal.timeout(300),
    })
    await expect(left).rejects.toThrow()
    // until the service has seen the end of the connection
    await sleep(200)
    await holder.query('ROLLBACK')
    holder.release()
    expect((await Promise.all(renames)).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await make(member, 'later')).status).toBe(200)
    const { body } = await member.call('GET', '/v1/keys')
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['renamed', 'later'])
  })

  it('are at most ten, even if they are requested at once', async () => {
    const member = await memberOf(world)
    const replies = await Promise.all(Array.from({ length: MAX_API_KEYS + 3 }, () => make(member)))
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(MAX_API_KEYS)
    const refused = replies.filter(({ status }) => status !== 200)
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual(
      Array(3).fill([409, 'key_limit']),
    )
    const [first] = (await member.call('GET', '/v1/keys')).body
    await member.call('DELETE', `/v1/keys/${first.id}`)
    expect((await make(member)).status).toBe(200)
  })

  it.each(['', '   ', 'x'.repeat(65), 'a\u0000b', 'a\nb', 7, null])(
    'have no name %j',
    async (name) => {
      const member = await memberOf(world)
      expect((await member.call('POST', '/v1/keys', { name })).body.error).toBe('invalid_request')
    },
  )

  it('require a signed-in wallet', async () => {
    expect((await world.post('/v1/keys', { name: 'x' })).status).toBe(401)
    expect((await world.get('/v1/keys')).status).toBe(401)
  })
})

describe('a request with an API key', () => {
  it('is counted by the key, and by all keys of its address', async () => {
    const member = await memberOf(world)
    const one = (await make(member)).body.key
    const two = (await make(member)).body.key
    // the first look-up of a key already counts for its own request
    expect(limits(await ask(one, '192.0.2.1'))).toMatch(
      /^"key";r=99;t=\d+, "keys-of-address";r=99;t=\d+$/,
    )
    expect(limits(await ask(two, '192.0.2.1'))).toMatch(
      /^"key";r=99;t=\d+, "keys-of-address";r=98;t=\d+$/,
    )
    expect(limits(await ask(one, '192.0.2.2'))).toMatch(
      /^"key";r=98;t=\d+, "keys-of-address";r=99;t=\d+$/,
    )
    expect(limits(await ask('', '192.0.2.1'))).toMatch(/^"address";r=1999;/)
    for (let n = 0; n < 98; n++) expect((await ask(two, '192.0.2.1')).status).toBe(200)
    expect((await ask(two, '192.0.2.1')).status).toBe(429)
  })

  it.each([
    '',
    'undefined',
    'ck_',
    'a b',
    apiKeyText(randomBytes(32)),
    `${apiKeyText(randomBytes(32))}x`,
  ])('that is invalid (%j) is counted as a request without a key', async (key) => {
    const reply = await ask(key, '192.0.2.3')
    expect(reply.status).toBe(200)
    expect(limits(reply)).toMatch(/^"address";/)
  })

  it('of the operator has its own limit, at any address', async () => {
    const key = apiKeyText(randomBytes(32))
    const own = { wallet: null, name: 'shop', perSecond: 1, burst: 7, createdMs: 1 }
    await addApiKey(world.pool, { keyHash: apiKeyHash(key)!, ...own })
    const reply = await ask(key, '192.0.2.4')
    expect(reply.headers.get('ratelimit-policy')).toBe('"key";q=7;w=7')
    expect(limits(reply)).toMatch(/^"key";r=6;/)
  })

  it('that was revoked is counted as a request without a key', async () => {
    const member = await memberOf(world)
    const { key, id } = (await make(member)).body
    await member.call('DELETE', `/v1/keys/${id}`)
    // a process that has not cached the key
    const second = await secondApi(world, { limits: LIMITS, trustProxy: 1 })
    expect(limits(await ask(key, '192.0.2.5', second.url))).toMatch(/^"address";/)
    await second.stop()
  })

  it('does not wait for a database that does not answer', async () => {
    const locked = await world.pool.connect()
    await locked.query('BEGIN')
    await locked.query('LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE')
    const reply = await ask(apiKeyText(randomBytes(32)), '192.0.2.7').finally(() =>
      locked.query('ROLLBACK'),
    )
    locked.release()
    expect([reply.status, limits(reply)]).toEqual([200, expect.stringMatching(/^"address";/)])
  })

  it('is not refused while the database is unavailable', async () => {
    const broken = await startApi({ limits: LIMITS })
    await broken.postgres.stop()
    const reply = await fetch(`${broken.url}/image/x.svg`, {
      headers: { 'x-api-key': apiKeyText(randomBytes(32)) },
    })
    expect(reply.status).toBe(200)
    await broken.stop()
  })
})

it('the operator makes, lists and revokes keys on the command line', async () => {
  vi.stubEnv('DATABASE_URL', world.postgres.url)
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
  try {
    await keysCommand.makeApiKeyCommand('shop', { perSecond: 20, json: true })
    const { key, id } = JSON.parse(lines.pop()!)
    expect((await ask(key, '192.0.2.6')).headers.get('ratelimit-policy')).toBe('"key";q=120;w=6')
    await keysCommand.listApiKeysCommand({})
    expect(lines.pop()).toMatch(new RegExp(`^${id} +shop +- +20 +120 +`, 'm'))
    await keysCommand.revokeApiKeyCommand(id)
    await expect(keysCommand.revokeApiKeyCommand(id)).rejects.toThrow(
      `There is no API key of the id ${id}: `,
    )
  } finally {
    log.mockRestore()
    vi.unstubAllEnvs()
  }
})

it('an address makes a limited number of keys a day, with any number of wallets', async () => {
  const strict = await startApi({ limits: { ...LIMITS, keysPerDay: 2 } })
  const codes: unknown[] = []
  for (let n = 0; n < 3; n++) {
    const { status, body } = await make(await memberOf(strict))
    codes.push([status, body.error])
  }
  expect(codes).toEqual([
    [200, undefined],
    [200, undefined],
    [429, 'rate_limited'],
  ])
  expect((await strict.pool.query('SELECT FROM api_keys')).rowCount).toBe(2)
  await strict.stop()
})
