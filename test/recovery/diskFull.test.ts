import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { replayJournal } from '../../src/db/journal/replay.js'
import { createPool } from '../../src/db/pg/pool.js'
import {
  createDatabase,
  type Postgres,
  type Stack,
  startPostgres,
  startStack,
  until,
} from '../../src/testing/index.js'
import { readDaemonReadiness } from '../../src/testing/processes/daemonProcess.js'
import { waitForCondition } from '../../src/testing/processes/processes.js'
import { ask, freshName, freshWallet, registerOn } from '../support/world.js'

const DISK = '160m'
const DEADLINE_MS = 30_000
const NAMES_A_TX = 50

/** A disk that a test may fill: its own, in memory, which takes root. */
function mountDisk(): string | null {
  const at = mkdtempSync(join(tmpdir(), 'clusterd-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', at])
  if (status === 0) return at
  rmSync(at, { recursive: true })
  return null
}

const disk = mountDisk()
if (!disk) console.warn('a full disk is not tried: mounting a small one takes root')

describe.skipIf(!disk)('PostgreSQL’s disk full', () => {
  const at = disk ?? ''
  const ballast = join(at, 'ballast')
  let postgres: Postgres
  let stack: Stack<'mainnet'>

  const start = () =>
    startPostgres({
      dataDir: join(at, 'pg'),
      logFile: join(tmpdir(), `${process.pid}-disk-full.log`),
      port: postgres?.port,
    })
  const ready = () => readDaemonReadiness(stack.ops)
  const register = async (): Promise<Hex> => {
    const names = Array.from({ length: NAMES_A_TX }, () => ({ name: freshName('full') }))
    return registerOn('1', await freshWallet('mainnet', stack), names, stack)
  }

  beforeAll(async () => {
    postgres = await start()
    const databaseUrl = await createDatabase(postgres.url, 'clusterd')
    stack = await startStack({ chains: ['1'], seeds: false, blockMs: 200, databaseUrl })
  }, 120_000)
  afterAll(async () => {
    await stack?.stop()
    await postgres?.stop()
    if (!disk) return
    spawnSync('umount', [at])
    rmSync(at, { recursive: true, force: true })
    rmSync(join(tmpdir(), `${process.pid}-disk-full.log`), { force: true })
  })

  it('stops what it would write, whole; it goes on when there is room, and nothing is lost', async () => {
    const before = await register()
    await until.status(stack, before, 'finalized')
    const feedBefore = await ask<{ items: { id: string }[] }>(
      'GET',
      '/v1/events?limit=1000',
      undefined,
      stack,
    )

    fill(at, ballast)
    const during: Hex[] = []
    const isUnready = async () => {
      during.push(await register())
      return !(await ready()).ready
    }
    expect(await waitForCondition(isUnready, DEADLINE_MS, 200)).toBe(true)
    expect((await ready()).alarms).toContain('ClusterdDatabaseAway')
    await sleep(2_000)
    expect(stack.daemon.isRunning()).toBe(true)
    const lookup = await ask('GET', `/v1/names/register/tx/${before}`, undefined, stack)
    expect([200, 503]).toContain(lookup.status) // a server that can't write its log ends

    rmSync(ballast)
    if (!(await isServing(postgres.url))) postgres = await start()
    await until.ready(stack, { deadlineMs: DEADLINE_MS })
    for (const tx of during) await until.status(stack, tx, 'finalized')
    const feed = await ask<{ items: { id: string }[] }>(
      'GET',
      '/v1/events?limit=1000',
      undefined,
      stack,
    )
    expect(feed.body.items.slice(0, feedBefore.body.items.length)).toEqual(feedBefore.body.items)
    const pool = createPool({ url: stack.databaseUrl, max: 2, applicationName: 'test' })
    try {
      const { live, rebuilt, entries } = await replayJournal(pool, 'mainnet')
      expect(rebuilt).toBe(live)
      expect(entries).toBe(1 + NAMES_A_TX * (1 + during.length))
    } finally {
      await pool.end()
    }
  })
})

/** Takes all the room that is left. */
function fill(at: string, file: string): void {
  const { bavail, bsize } = statfsSync(at)
  try {
    writeFileSync(file, Buffer.alloc(bavail * bsize))
  } catch (error) {
    // the server has taken some of it meanwhile: the disk is as full
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

async function isServing(url: string): Promise<boolean> {
  const pool = createPool({ url, max: 1, applicationName: 'test' })
  try {
    return await waitForCondition(
      () =>
        pool.query('SELECT 1').then(
          () => true,
          () => false,
        ),
      5_000,
      200,
    )
  } finally {
    await pool.end()
  }
}
