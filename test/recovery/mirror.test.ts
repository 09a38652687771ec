import type { ServerResponse } from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import { bid, freshName, randomAddress, secondApi, startApi } from '../api/support.js'
import { emptyDatabase, key, writeLog } from '../mirror/support.js'
import { startClusterd } from '../support/clusterdProcess.js'
import { startTestMirror } from '../support/daemon.js'
import { serve } from '../support/httpServer.js'
import { useWorld } from '../support/useWorld.js'

const DEADLINE = { timeout: 30_000, interval: 50 }

const source = useWorld(async () => {
  const api = await startApi()
  await grow(api, 400)
  return api
})

async function grow(api: Pick<typeof source, 'append' | 'pool'>, count: number): Promise<string> {
  const from = randomAddress()
  const bids = Array.from({ length: count }, () => bid({ from, name: freshName() }))
  await api.append('mainnet', bids)
  await writeLog(api.pool)
  return from
}

/** What the way to the source does: `cut` ends connections, `slow` answers checkpoints alone, `forged` alters them. */
type Way = 'open' | 'cut' | 'slow' | 'forged'

/** The source's address behind a way that a test closes and opens. */
const way = useWorld(async () => {
  const state = { is: 'open' as Way }
  const server = await serve((req, res) => {
    if (state.is === 'cut') return void req.socket.destroy()
    // the client's time limit ends such a request
    if (state.is === 'slow' && !req.url!.includes('checkpoint')) return
    void pass(req.url!, res, state.is)
  })
  return Object.assign(state, { url: server.url, stop: server.stop })
})

beforeEach(() => {
  way.is = 'open'
})

async function pass(path: string, res: ServerResponse, is: Way): Promise<void> {
  const response = await fetch(`${source.url}${path}`)
  const bytes = Buffer.from(await response.arrayBuffer())
  const isForged = is === 'forged' && path.includes('checkpoint')
  const body = isForged ? bytes.toString().replace(/\n\d+\n/, '\n999999\n') : bytes
  res.writeHead(response.status, { 'content-type': response.headers.get('content-type')! })
  res.end(body)
}

const nameOf = async (at: { api: string }, address: string) => {
  const response = await fetch(`${at.api}/v1/names/address/${address}`)
  return { status: response.status, stale: response.headers.get('x-clusterd-stale') }
}

const feedOf = async (url: string): Promise<unknown[]> => {
  const response = await fetch(`${url}/v1/events?limit=1000&orderBy=newest`)
  const { items } = (await response.json()) as { items: unknown[] }
  return items
}

/** Waits until a mirror has the source's newest events. */
async function untilSame(api: string): Promise<void> {
  const events = await feedOf(source.url)
  // a mirror that starts has no port yet
  await expect.poll(() => feedOf(api).catch(() => []), DEADLINE).toEqual(events)
}

describe('a mirror that has copied nothing yet', () => {
  it.each<Way>(['cut', 'slow'])(
    'is not ready and denies nothing, whatever the source does: %s',
    async (is) => {
      way.is = is
      const { url, pool } = await emptyDatabase(source.postgres.url, `unproved_${is}`)
      const mirror = await startTestMirror(url, { url: way.url, key })
      const ready = async () => (await fetch(`${mirror.ops}/ready`)).status
      const unknown = randomAddress()
      const body = JSON.stringify([{ name: freshName() }])
      const lookups: readonly [path: string, init?: RequestInit][] = [
        [`/v1/names/address/${unknown}`],
        ['/v1/names', { method: 'POST', body }],
        ['/v1/clusters/name/nobody'],
        [`/v0.1/name/${unknown}`],
        ['/v0.1/address/nobody'],
        ['/v1/names/register/check', { method: 'POST', body: '["nobody"]' }],
        ['/v0.1/register/check/nobody'],
        ['/v1/names/search?prefix=no'],
        ['/v1/events'],
        ['/v0.1/events'],
        ['/nobody'],
        ['/v1/overview'],
        ['/v1/log/mainnet/checkpoint'],
        ['/v1/log/mainnet/1/checkpoint'],
        ['/v1/log/mainnet/1/tile/0/000'],
        ['/v1/events/m-1-1/proof'],
        ['/v1/proof'],
        [`/v1/names/address/${unknown}?testnet=true`],
        [`/v0.1/name/${unknown}?testnet=true`],
        ['/v1/log/testnet/checkpoint'],
      ]
      const another = await secondApi({ pool }, {})
      for (const at of [mirror.api, another.url])
        for (const [path, init] of is === 'slow' ? lookups.slice(0, -3) : lookups)
          expect((await fetch(`${at}${path}`, init)).status, path).toBe(503)
      expect(await ready()).toBe(503)
      expect((await mirror.status()).mirrors).toEqual([])

      way.is = 'open'
      await untilSame(mirror.api)
      await expect.poll(ready, DEADLINE).toBe(200)
      expect((await fetch(`${mirror.api}/v1/names/address/${unknown}`)).status).toBe(404)
      // the source has no testnet
      const onTestnet = `${mirror.api}/v1/names/address/${unknown}?testnet=true`
      await expect.poll(async () => (await fetch(onTestnet)).status, DEADLINE).toBe(400)
      await another.stop()
      await mirror.stop()

      // what was copied is served without the source, and is ready
      way.is = 'cut'
      const again = await startTestMirror(url, { url: way.url, key })
      expect((await fetch(`${again.api}/v1/names/address/${unknown}`)).status).toBe(404)
      expect((await fetch(`${again.ops}/ready`)).status).toBe(200)
      await again.stop()
    },
  )
})

describe('a mirror', () => {
  it('serves from nothing, follows within two seconds, and outlives outages, forgeries and generations', async () => {
    const { url, pool } = await emptyDatabase(source.postgres.url, 'followed')
    const mirror = await startTestMirror(url, { url: way.url, key }, { SQL_VIEWS: 'on' })
    await untilSame(mirror.api)
    expect(await mirror.status()).toMatchObject({
      problems: [],
      mirrors: [{ network: 'mainnet', ageSeconds: expect.any(Number) }],
    })

    const lags: number[] = []
    for (let i = 0; i < 20; i++) {
      const from = await grow(source, 1)
      const startedMs = performance.now()
      await expect.poll(async () => (await nameOf(mirror, from)).status, DEADLINE).toBe(200)
      lags.push(performance.now() - startedMs)
    }
    console.log(`lag of a mirror, ms: ${lags.map(Math.round).sort((a, b) => a - b)}`)
    expect(Math.max(...lags)).toBeLessThan(2_000)
    const read = async (sql: string) => (await pool.query<{ found: number }>(sql)).rows[0]!.found
    const untilViewed = async () => {
      const events = await read('SELECT public_seq AS found FROM journal_heads WHERE network = 0')
      const viewed = () => read('SELECT count(*)::int AS found FROM registry_v1.events')
      await expect.poll(viewed, DEADLINE).toBe(Number(events))
    }
    await untilViewed()
    for (const view of ['communities', 'refunds_owed'])
      await expect(
        read(`SELECT count(*)::int AS found FROM registry_v1.${view}`),
        view,
      ).rejects.toThrow('a mirror does not have the rows of this view: ask its source')

    way.is = 'cut'
    await expect
      .poll(async () => (await mirror.status()).problems, DEADLINE)
      .toContain(`the mirror of mainnet, from ${way.url}: The service can not be reached.`)
    const known = await grow(source, 1)
    expect((await nameOf(mirror, known)).status).toBe(404)
    const [event] = (await feedOf(mirror.api)) as [{ from: string }]
    await expect
      .poll(async () => (await nameOf(mirror, event.from)).stale, DEADLINE)
      .toMatch(/^\d+$/)
    expect((await nameOf(mirror, event.from)).status).toBe(200)
    way.is = 'open'
    await untilSame(mirror.api)
    await expect.poll(async () => (await mirror.status()).problems, DEADLINE).toEqual([])

    way.is = 'forged'
    await expect
      .poll(async () => (await mirror.status()).alarms, DEADLINE)
      .toMatchObject([
        { alarm: 'ClusterdMirrorRefused', text: expect.stringContaining('signature') },
      ])
    expect(await mirror.metric('clusterd_alarm')).toContain(
      'clusterd_alarm{alarm="ClusterdMirrorRefused",network="mainnet",chain="",subject=""} 1',
    )
    expect((await nameOf(mirror, event.from)).status).toBe(200)
    way.is = 'open'
    await untilSame(mirror.api)

    await source.pool.query('UPDATE journal_heads SET feed_generation = 5 WHERE network = 0')
    await grow(source, 2)
    await untilSame(mirror.api)
    const [newest] = (await feedOf(mirror.api)) as [{ id: string }]
    expect(newest.id).toMatch(/^m-5-/)
    await untilViewed()
    expect(await read('SELECT min(generation) AS found FROM registry_v1.events')).toBe(5)
    await mirror.stop()

    // a restart goes on from what is there
    const from = await grow(source, 1)
    const again = await startTestMirror(url, { url: way.url, key })
    await expect.poll(async () => (await nameOf(again, from)).status, DEADLINE).toBe(200)
    await again.stop()
    await pool.end()
  }, 180_000)

  it('has no other roles, and no journal of its own', async () => {
    const { url, pool } = await emptyDatabase(source.postgres.url, 'roles')
    await pool.query('UPDATE journal_heads SET seq = 1 WHERE network = 0')
    await expect(startTestMirror(url, { url: way.url, key })).rejects.toThrow(
      'has a journal of mainnet of its own',
    )
    await pool.end()
  })

  it.each([
    ['before it commits', 'mirror.taken'],
    ['before it commits what follows', 'mirror.taken:2'],
    ['behind its commit', 'mirror.committed'],
  ])(
    'that is killed %s goes on after a restart',
    async (_when, failpoint) => {
      const { url, pool } = await emptyDatabase(source.postgres.url, failpoint.replace(/\W/g, '_'))
      const env = {
        PATH: process.env.PATH,
        DATABASE_URL: url,
        CLUSTERD_CHAINS: '/nowhere/chains.json',
        LIMITS: 'off',
        DRAIN_SECONDS: '0',
      }
      const args = [way.url, '--key', key]
      const killed = await startClusterd(
        { ...env, CLUSTERD_FAILPOINT: failpoint },
        { command: 'mirror', args },
      )
      if (failpoint.endsWith('2')) {
        await untilSame(killed.api)
        await grow(source, 3)
      }
      const isGone = () =>
        fetch(`${killed.ops}/health`).then(
          () => false,
          () => true,
        )
      await killed.ready().catch(() => {})
      await expect.poll(isGone, DEADLINE).toBe(true)
      const mirror = await startClusterd(env, { command: 'mirror', args })
      await mirror.ready()
      await untilSame(mirror.api)
      await mirror.end()
      await pool.end()
    },
    120_000,
  )
})
