import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { replayJournal } from '../../src/db/journal/replay.js'
import { createPool } from '../../src/db/pg/pool.js'
import { startStack, until } from '../../src/testing/index.js'
import { readDaemonReadiness } from '../../src/testing/processes/daemonProcess.js'
import { waitForCondition } from '../../src/testing/processes/processes.js'
import { useWorld } from '../support/useWorld.js'
import { freshName, freshWallet, registerOn } from '../support/world.js'

/** "At once": far below the time limits of the pool and of requests. */
const AT_ONCE_MS = 2_000
const STOP_LIMIT_MS = 10_000
const DEADLINE_MS = 30_000
const UNKNOWN_TX = `0x${'5a'.repeat(32)}`

const stack = useWorld(() => startStack({ chains: ['1', '11155111'], seeds: false, blockMs: 400 }))

interface Reply {
  status: number
  error?: string
  retryAfterS: number
  type: string | null
  ms: number
}

/** Asks the API; every answer, also of an outage, has to be JSON. */
async function ask(path: string, body?: unknown): Promise<Reply> {
  const startedMs = performance.now()
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`${stack.api}${path}`, init)
  const { error } = (await response.json()) as { error?: string }
  return {
    status: response.status,
    ...(error ? { error } : {}),
    retryAfterS: Number(response.headers.get('retry-after')),
    type: response.headers.get('content-type'),
    ms: performance.now() - startedMs,
  }
}

const unavailable = (reply: Reply) => {
  expect(reply).toMatchObject({
    status: 503,
    error: 'unavailable',
    type: 'application/json; charset=utf-8',
  })
  expect(reply.retryAfterS).toBeGreaterThan(0)
  expect(reply.ms).toBeLessThan(AT_ONCE_MS)
}

async function register(label = '1'): Promise<{ name: string; tx: Hex }> {
  const network = label === '1' ? 'mainnet' : 'testnet'
  const name = freshName()
  return { name, tx: await registerOn(label, await freshWallet(network, stack), [{ name }], stack) }
}

/** The state that its journal gives, after everything. */
async function expectReplayEqual(): Promise<void> {
  const pool = createPool({ url: stack.databaseUrl, max: 2, applicationName: 'test' })
  try {
    const { live, rebuilt } = await replayJournal(pool, 'mainnet')
    expect(rebuilt).toBe(live)
  } finally {
    await pool.end()
  }
}

/** Sends SIGTERM and waits for the end. */
async function stopDaemon(): Promise<{
  code: number | null
  signal: NodeJS.Signals | null
  ms: number
}> {
  const startedMs = performance.now()
  await stack.daemon.kill('SIGTERM')
  return { ...(await stack.daemon.exited()), ms: performance.now() - startedMs }
}

const startDaemon = async () => {
  await stack.daemon.spawn()
  await stack.daemon.waitUntilReady()
}

describe('PostgreSQL gone', () => {
  it('is 503 at once, and mends itself when it is back; nothing is lost', async () => {
    const before = await register()
    await until.status(stack, before.tx, 'finalized')
    const during = await register()
    await stack.postgres!.kill()
    await ask('/v1/events') // connections that were open notice now
    for (let round = 0; round < 3; round++) {
      for (const path of [
        `/v1/clusters/name/${before.name}`,
        '/v1/events',
        `/v1/names/register/tx/${before.tx}`,
        `/v1/names/address/0x${'11'.repeat(20)}`,
      ])
        unavailable(await ask(path))
      unavailable(await ask('/v1/names/register/check', ['free-name']))
    }
    const ready = await readDaemonReadiness(stack.ops)
    expect(ready.ready).toBe(false)
    expect(ready.alarms).toContain('ClusterdDatabaseAway') // its text is the newest error of a loop
    expect((await fetch(`${stack.ops}/ready`)).status).toBe(503)
    expect((await fetch(`${stack.ops}/health`)).status).toBe(200)
    expect((await fetch(`${stack.ops}/metrics`)).status).toBe(200)
    await sleep(1_500)
    await stack.postgres!.restart()
    await until.ready(stack, { deadlineMs: DEADLINE_MS })
    await until.status(stack, during.tx, 'finalized')
    expect((await ask(`/v1/clusters/name/${before.name}`)).status).toBe(200)
    await until.status(stack, (await register()).tx, 'finalized')
    await expectReplayEqual()
  })

  it('lets SIGTERM end the daemon in time, with code 0', async () => {
    await stack.postgres!.kill()
    const { code, ms } = await stopDaemon()
    expect(code).toBe(0)
    expect(ms).toBeLessThan(STOP_LIMIT_MS)
    await stack.postgres!.restart()
    await startDaemon()
  })
})

describe('SIGTERM', () => {
  it('finishes requests in flight, takes no new ones, and ends with code 0', async () => {
    // the body arrives while the daemon is stopping
    const request = http.request(`${stack.api}/v1/names/register/check`, { method: 'POST' })
    const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
      request.on('error', reject)
      request.on('response', (response) => {
        let body = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          body += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
      })
    })
    request.write('["still-')
    await sleep(200)
    const stopped = stopDaemon()
    await sleep(500)
    await expect(fetch(`${stack.api}/v1/events`)).rejects.toThrow() // no new ones
    request.end('answered"]')
    expect(await answer).toMatchObject({
      status: 200,
      body: expect.stringContaining('still-answered'),
    })
    const { code, ms } = await stopped
    expect(code).toBe(0)
    expect(ms).toBeLessThan(STOP_LIMIT_MS)

    await startDaemon()
  })

  it('ends the daemon in time while a chain hangs', async () => {
    const anvil = stack.anvils['1'].pid
    process.kill(anvil, 'SIGSTOP')
    try {
      await sleep(1_000) // a step is waiting for its answer
      const pending = fetch(`${stack.api}/v1/names/register/tx/${UNKNOWN_TX}`).catch(() => null)
      await sleep(200)
      const stopped = stopDaemon()
      await sleep(500)
      await expect(fetch(`${stack.api}/v1/events`)).rejects.toThrow()
      const { code, ms } = await stopped
      expect(code).toBe(0)
      expect(ms).toBeLessThan(STOP_LIMIT_MS)
      await pending
    } finally {
      process.kill(anvil, 'SIGCONT')
    }
    await startDaemon()
  })
})

describe('an RPC gone', () => {
  it('is 503 on what needs the chain; look-ups, and the other network, go on', async () => {
    const known = await register()
    await until.status(stack, known.tx, 'finalized')
    await stack.anvils['1'].stop()
    unavailable(await ask(`/v1/names/register/tx/${UNKNOWN_TX}`))
    expect((await ask(`/v1/names/register/tx/${known.tx}`)).status).toBe(200)
    expect((await ask(`/v1/clusters/name/${known.name}`)).status).toBe(200)
    expect((await ask('/v1/events')).status).toBe(200)
    expect((await ask('/v1/names/register/check', [known.name])).status).toBe(200)
    const isUnready = async () => {
      const { ready, problems } = await readDaemonReadiness(stack.ops)
      return !ready && problems.every((problem) => problem.startsWith('mainnet chain "1"'))
    }
    expect(await waitForCondition(isUnready, DEADLINE_MS)).toBe(true)
    const other = await register('11155111')
    await until.status(stack, other.tx, 'finalized', { testnet: true })
    // the hub comes back as another chain, since this world keeps no state: none of it is indexed
    expect(stack.daemon.isRunning()).toBe(true)
  })
})
