import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client } from '../../src/client/client.js'
import { readLeaders } from '../../src/db/leaders/leaders.js'
import { createPool } from '../../src/db/pg/pool.js'
import { type Stack, startStack, until } from '../../src/testing/index.js'
import { ask as askOnce } from '../support/askOnce.js'
import { type SecondDaemon, startSecondDaemon } from '../support/secondDaemon.js'
import { signIn } from '../support/signIn.js'
import { startTcpProxy, type TcpProxy } from '../support/tcpProxy.js'
import { freshName, freshWallet, registerOn } from '../support/world.js'

/** What the design promises, from the moment a leader says nothing more. */
const TAKE_OVER_MS = 5_000
/** For a machine that other tests share. */
const MARGIN_MS = 2_500
const POLL_MS = 100
const DEADLINE_MS = 60_000
/** Time of changes before a leader freezes. */
const WRITING_MS = 1_500
const TRIES = Number(process.env.TAKE_OVERS ?? 1)

let stack: Stack<'mainnet'>
let pool: pg.Pool
let proxy: TcpProxy
let standby: SecondDaemon

beforeAll(async () => {
  stack = await startStack({ networks: ['mainnet'], chains: ['1'], seeds: false, blockMs: 500 })
  pool = createPool({ url: stack.databaseUrl, max: 2, applicationName: 'test' })
  proxy = await startTcpProxy({ port: Number(new URL(stack.databaseUrl).port) })
  standby = await startSecondDaemon(stack)
}, 120_000)
afterAll(async () => {
  await standby?.daemon.kill('SIGKILL')
  await pool?.end()
  await proxy?.stop()
  await stack?.stop()
})

const leads = () => standby.leads()

/** The indexing leader, if anybody leads. */
const leader = async () => (await readLeaders(pool)).find(({ role }) => role === 'index') ?? null

/** The first daemon, with the lead. */
async function leadFirst(env: Record<string, string> = {}): Promise<void> {
  for (const daemon of [standby.daemon, stack.daemon]) await daemon.kill('SIGKILL')
  // the lease of who was killed runs out
  await expect.poll(leader, { timeout: DEADLINE_MS }).toBeNull()
  await stack.daemon.spawn(env)
  await expect.poll(leader, { timeout: DEADLINE_MS }).not.toBeNull()
  await standby.daemon.spawn()
  const before = leads()
  await expect
    .poll(async () => (await fetch(`${standby.api}/v1/events`).catch(() => null))?.status, {
      timeout: DEADLINE_MS,
    })
    .toBe(200)
  expect(leads()).toBe(before)
}

/** Waits for what the second process has to do within the promise. @returns after how many ms */
async function takeOver(leadsBefore: number, startedMs: number): Promise<number> {
  while (leads() === leadsBefore) {
    if (performance.now() - startedMs > DEADLINE_MS)
      throw new Error('the second process does not lead')
    await sleep(POLL_MS)
  }
  return performance.now() - startedMs
}

/** A signed change at the second process, which needs the journal's head. @returns after how many ms it was made */
async function change(startedMs: number): Promise<number> {
  const { privateKey } = stack.accounts.evm[0]!
  for (;;) {
    try {
      const headers = {
        authorization: `Bearer ${await signIn(standby, privateKey)}`,
        'content-type': 'application/json',
      }
      const body = JSON.stringify([
        { address: (await freshWallet('mainnet', stack)).address, name: freshName('w') },
      ])
      await askOnce(standby.api, '/v1/clusters/wallets?testnet=false', {
        method: 'POST',
        headers,
        body,
      })
      return performance.now() - startedMs
    } catch (error) {
      if (performance.now() - startedMs > DEADLINE_MS) throw error
      await sleep(POLL_MS)
    }
  }
}

/** Wallets that send signed changes to the first daemon, each the next as soon as the last is answered. */
async function writeWithoutPause(wallets: number) {
  let isOver = false
  const write = async () => {
    const wallet = await freshWallet('mainnet', stack)
    const key = await new Client({ url: stack.api }).signIn(wallet)
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    while (!isOver) {
      const { address } = await freshWallet('mainnet', stack)
      const body = JSON.stringify([{ address, name: freshName('w') }])
      await fetch(`${stack.api}/v1/clusters/wallets`, { method: 'POST', headers, body })
        .then((answer) => answer.text())
        .catch(() => {})
    }
  }
  const writing = Array.from({ length: wallets }, write)
  return {
    stop: async () => {
      isOver = true
      await Promise.all(writing)
    },
  }
}

async function expectTakeOver(what: string, act: () => Promise<number> | number): Promise<void> {
  const before = leads()
  const startedMs = await act()
  const [ledMs, changedMs] = await Promise.all([takeOver(before, startedMs), change(startedMs)])
  console.log(
    `${what}: the other leads after ${Math.round(ledMs)} ms, changes go on after ${Math.round(changedMs)} ms`,
  )
  expect(ledMs).toBeLessThan(TAKE_OVER_MS + MARGIN_MS)
  expect(changedMs).toBeLessThan(TAKE_OVER_MS + MARGIN_MS)
  await registers()
}

/** A registration goes all its way, as under any leader. */
async function registers(): Promise<void> {
  const tx = await registerOn('1', await freshWallet('mainnet', stack), [{ name: freshName() }], {
    ...stack,
    api: standby.api,
  })
  await until.status({ api: standby.api }, tx, 'finalized')
}

/** @returns when the first daemon was stopped, in the middle of a transaction that holds the journal's head */
async function frozen(): Promise<number> {
  const lock = await pool.connect()
  await lock.query('BEGIN; LOCK TABLE journal IN SHARE MODE')
  const registering = registerOn(
    '1',
    await freshWallet('mainnet', stack),
    [{ name: freshName() }],
    stack,
  )
  const waiting = `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'relation' AND NOT granted`
  await expect
    .poll(async () => (await pool.query<{ n: number }>(waiting)).rows[0]!.n, {
      timeout: DEADLINE_MS,
      interval: POLL_MS,
    })
    .toBe(1)
  process.kill(stack.daemon.pid, 'SIGSTOP')
  await lock.query('COMMIT')
  lock.release()
  await registering
  return performance.now()
}

describe.each(Array.from({ length: TRIES }, (_, i) => i + 1))(
  'another process takes over, try %s',
  () => {
    it('from a leader that is killed', async () => {
      await leadFirst()
      await expectTakeOver('kill -9', () => {
        process.kill(stack.daemon.pid, 'SIGKILL')
        return performance.now()
      })
    })

    it('from a leader that freezes', async () => {
      await leadFirst()
      await expectTakeOver('SIGSTOP', () => {
        process.kill(stack.daemon.pid, 'SIGSTOP')
        return performance.now()
      })
      // thawed, it writes nothing: its epoch has ended
      process.kill(stack.daemon.pid, 'SIGCONT')
      expect((await fetch(`${stack.api}/v1/events`)).status).toBe(200)
    })

    it('from a leader that freezes in a transaction, with the head locked', async () => {
      await leadFirst()
      await expectTakeOver('SIGSTOP in a transaction', frozen)
    })

    it('from a leader that freezes while eight wallets change their clusters', async () => {
      await leadFirst()
      const writing = await writeWithoutPause(8)
      await sleep(WRITING_MS)
      await expectTakeOver('SIGSTOP under changes', () => {
        process.kill(stack.daemon.pid, 'SIGSTOP')
        return performance.now()
      })
      process.kill(stack.daemon.pid, 'SIGCONT')
      await writing.stop()
    })

    /** The URL of the database through the proxy. */
    const proxied = () =>
      Object.assign(new URL(stack.databaseUrl), { port: String(proxy.port) }).href

    it('from a leader whose connections fall silent', async () => {
      await leadFirst({ DATABASE_URL: proxied() })
      await expectTakeOver('silence', () => {
        proxy.hold()
        return performance.now()
      })
      proxy.restore()
    })

    it('or the same goes on, where its connections fall silent and new ones work', async () => {
      await leadFirst({ DATABASE_URL: proxied() })
      proxy.forget()
      expect(await change(performance.now())).toBeLessThan(TAKE_OVER_MS + MARGIN_MS)
      await registers()
      proxy.restore()
    })
  },
)
