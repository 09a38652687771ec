import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { startStack, until } from '../../src/testing/index.js'
import { queryOn } from '../support/database.js'
import { hasPgbouncer, startPgbouncer } from '../support/pgbouncer.js'
import { startTcpProxy } from '../support/tcpProxy.js'
import { useWorld } from '../support/useWorld.js'
import { ask, freshName, freshWallet, registerOn } from '../support/world.js'

/** No look-up is unavailable for longer while any database answers. */
const UNAVAILABLE_MS = 5_000
/** For a machine that other tests share. */
const MARGIN_MS = 2_500
const DEADLINE_MS = 60_000
/** More than the daemon has connections for reads. */
const READERS = 20
const POOL_SIZE = 4
const LOOKUPS = 60

const stack = useWorld(() =>
  startStack({ networks: ['mainnet'], chains: ['1'], seeds: false, blockMs: 400 }),
)
const proxy = useWorld(() => startTcpProxy({ port: Number(new URL(stack.databaseUrl).port) }))

const register = async () =>
  registerOn('1', await freshWallet('mainnet', stack), [{ name: freshName() }], stack)
const lookup = () => ask('GET', `/v1/clusters/name/${freshName()}`, undefined, stack)

describe('connections that fall silent', () => {
  it('keep look-ups unavailable for a moment, and changes and blocks go on', async () => {
    const url = new URL(stack.databaseUrl)
    url.port = String(proxy.port)
    await stack.daemon.restart({ DATABASE_URL: url.href })
    // all of them are open
    await Promise.all(Array.from({ length: READERS }, lookup))
    proxy.forget()
    const startedMs = performance.now()
    let lastFailureMs = 0
    const read = async () => {
      while (performance.now() - startedMs < 2 * UNAVAILABLE_MS) {
        const { status } = await lookup()
        if (status >= 500) lastFailureMs = performance.now() - startedMs
        await sleep(400)
      }
    }
    await Promise.all(Array.from({ length: READERS }, read))
    console.log(`look-ups were unavailable for ${Math.round(lastFailureMs)} ms`)
    expect(lastFailureMs).toBeLessThan(UNAVAILABLE_MS + MARGIN_MS)
    expect((await lookup()).status).toBe(404)
    await until.status(stack, await register(), 'finalized')
  })
})

it('a database that is frozen while the daemon starts is waited for', async () => {
  const url = new URL(stack.databaseUrl)
  url.port = String(proxy.port)
  proxy.hold()
  await stack.daemon.spawn({ DATABASE_URL: url.href })
  await expect
    .poll(() => stack.daemon.logs(), { timeout: DEADLINE_MS })
    .toContain('the database does not answer: the start waits for it')
  expect(stack.daemon.isRunning()).toBe(true)
  proxy.restore()
  await stack.daemon.waitUntilReady()
  expect((await lookup()).status).toBe(404)
})

describe('a database that only reads', () => {
  const settle = async (mode: 'on' | 'off') => {
    await queryOn(stack.databaseUrl, `ALTER SYSTEM SET default_transaction_read_only = ${mode}`)
    await queryOn(stack.databaseUrl, 'SELECT pg_reload_conf()')
  }
  afterEach(() => settle('off'))

  it('answers what it can: the status of a transaction that no table has yet', async () => {
    await stack.daemon.restart()
    await settle('on')
    const tx = await register()
    await expect
      .poll(() => ask('GET', `/v1/names/register/tx/${tx}`, undefined, stack), {
        timeout: DEADLINE_MS,
      })
      .toMatchObject({ status: 200, body: { status: 'pending' } })
    await settle('off')
    await until.status(stack, tx, 'finalized')
  })

  it('lets a daemon start, where no migration is missing and the chains are known', async () => {
    await settle('on')
    await stack.daemon.spawn()
    await expect
      .poll(() => lookup().catch(() => null), { timeout: DEADLINE_MS })
      .toMatchObject({ status: 404 })
  })
})

if (!hasPgbouncer) console.warn('a pooler is not tried: there is no pgbouncer')

describe.skipIf(!hasPgbouncer)('behind a pooler in transaction mode', () => {
  const pooler = useWorld(() => startPgbouncer(stack.databaseUrl, POOL_SIZE))

  it('a daemon without a direct URL reports what is missing, and ends', async () => {
    await stack.daemon.spawn({ DATABASE_URL: pooler.url })
    expect((await stack.daemon.exited()).code).toBe(1)
    expect(stack.daemon.logs()).toContain('set DATABASE_DIRECT_URL')
  })

  it('a daemon with one serves, leads and hears', async () => {
    await stack.daemon.spawn({ DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: stack.databaseUrl })
    await stack.daemon.waitUntilReady()
    await until.status(stack, await register(), 'finalized')
    const answers = await Promise.all(Array.from({ length: LOOKUPS }, lookup))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
  })
})
