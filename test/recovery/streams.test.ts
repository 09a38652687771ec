import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Client } from '../../src/client/index.js'
import { readServerSentEvents } from '../../src/client/sse.js'
import { LogReader } from '../../src/client/verify.js'
import { STOP_TIMEOUT_MS } from '../../src/daemon/daemon.js'
import { startStack, until } from '../../src/testing/index.js'
import { randomHash } from '../api/support.js'
import { LOCAL_LOG_KEY } from '../support/logKey.js'
import { useWorld } from '../support/useWorld.js'
import { freshName, freshWallet, registerOn } from '../support/world.js'

const DEADLINE = { timeout: 60_000, interval: 100 }

const stack = useWorld(() => startStack({ chains: ['1'], seeds: false, blockMs: 200 }))

/** Follows the feed by streams alone, each from the last id of the one before. */
function follow() {
  const stop = new AbortController()
  const got: string[] = []
  const state = { last: '', streams: 0 }
  const run = async () => {
    while (!stop.signal.aborted) {
      try {
        const from = state.last === '' ? 'fromTimestamp=0' : `resume=${state.last}`
        const response = await fetch(`${stack.api}/v1/events/stream?${from}`, {
          signal: stop.signal,
        })
        expect(response.status).toBe(200)
        state.streams += 1
        for await (const { id, data } of readServerSentEvents(response.body!)) {
          state.last = id
          got.push(data)
        }
      } catch {
        // the daemon is away
      }
      await sleep(50)
    }
  }
  const done = run()
  const end = () => {
    stop.abort()
    return done
  }
  return { got, state, end }
}

async function register() {
  const tx = await registerOn(
    '1',
    await freshWallet('mainnet', stack),
    [{ name: freshName() }],
    stack,
  )
  await until.status(stack, tx, 'finalized')
}

async function get<Body>(path: string): Promise<Body> {
  return (await (await fetch(`${stack.api}${path}`)).json()) as Body
}

it('streams go on exactly where a killed daemon left them, and the log has what they had', async () => {
  const { got, state, end } = follow()
  await register()
  await stack.daemon.kill('SIGKILL')
  await stack.daemon.spawn()
  await stack.daemon.waitUntilReady()
  await Promise.all([register(), register(), register()])
  await stack.daemon.restart()
  await register()
  const { items } = await get<{ items: unknown[] }>('/v1/events?limit=1000')
  await expect.poll(() => got.length, DEADLINE).toBe(items.length)
  expect(got.map((text) => JSON.parse(text))).toEqual(items)
  expect(state.streams).toBeGreaterThanOrEqual(3)
  await end()
  const log = new LogReader(new Client({ url: stack.api }), { key: LOCAL_LOG_KEY })
  await expect.poll(async () => (await log.checkpoint()).size, DEADLINE).toBe(got.length + 1)
  const entries: string[] = []
  for await (const { text } of log.entries(log.last!)) entries.push(text)
  expect(entries.slice(1).map((text) => JSON.parse(text).data)).toEqual(
    got.map((text) => JSON.parse(text).data),
  )
})

it('who waits is answered when the daemon stops, and streams end', async () => {
  const waiting = fetch(`${stack.api}/v1/names/register/tx/${randomHash()}?wait=30&since=not_found`)
  const { end } = follow()
  await sleep(500)
  const stoppedMs = performance.now()
  await stack.daemon.kill('SIGTERM')
  // no connection is waited for
  expect(performance.now() - stoppedMs).toBeLessThan(STOP_TIMEOUT_MS)
  const response = await waiting
  expect([response.status, (await response.json()) as object]).toMatchObject([
    200,
    { status: 'not_found' },
  ])
  await end()
})
