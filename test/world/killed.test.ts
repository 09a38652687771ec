import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { replayJournal } from '../../src/db/journal/replay.js'
import { createPool } from '../../src/db/pg/pool.js'
import { type Stack, startStack, until } from '../../src/testing/index.js'
import { type SecondDaemon, startSecondDaemon } from '../support/secondDaemon.js'
import { freshName, freshWallet, registerOn } from '../support/world.js'

/** One kill and one take-over. test/recovery has every point of a kill, and every way in which a leader falls silent. */

const TAKE_OVER_LIMIT_MS = 60_000

let stack: Stack<'mainnet'>
let standby: SecondDaemon

beforeAll(async () => {
  stack = await startStack({ networks: ['mainnet'], chains: ['1'], seeds: false, blockMs: 200 })
  standby = await startSecondDaemon(stack)
  await standby.daemon.waitUntilReady()
}, 120_000)
afterAll(async () => {
  await standby?.daemon.kill('SIGKILL')
  await stack?.stop()
})

const register = async (): Promise<Hex> =>
  registerOn('1', await freshWallet('mainnet', stack), [{ name: freshName() }], {
    ...stack,
    api: standby.api,
  })

describe('a leader that is killed while names are registered', () => {
  it('is followed by the other process, which loses no registration', async () => {
    const before = await register()
    await until.status({ api: standby.api }, before, 'finalized')
    expect(standby.leads()).toBe(0)

    const during = await register()
    await stack.daemon.kill('SIGKILL')
    await expect.poll(() => standby.leads(), { timeout: TAKE_OVER_LIMIT_MS }).toBe(1)
    const after = await register()

    await until.status({ api: standby.api }, during, 'finalized')
    await until.status({ api: standby.api }, after, 'finalized')
  })

  it('starts again beside it, and goes on alone', async () => {
    await stack.daemon.spawn()
    await stack.daemon.waitUntilReady()
    const between = await register()
    await standby.daemon.kill('SIGKILL')
    await until.status(stack, between, 'finalized')
  })

  it('leaves a state that its journal gives again', async () => {
    const pool = createPool({ url: stack.databaseUrl, max: 2, applicationName: 'test' })
    try {
      const { live, rebuilt, entries } = await replayJournal(pool, 'mainnet')
      expect(rebuilt).toBe(live)
      expect(entries).toBeGreaterThanOrEqual(4)
    } finally {
      await pool.end()
    }
  })
})
