import { join } from 'node:path'
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import {
  readTransparencyLogState,
  type StoredTransparencyLog,
} from '../../src/db/feed/transparencyLog.js'
import { LostLeadershipError } from '../../src/db/journal/head.js'
import { createPool } from '../../src/db/pg/pool.js'
import {
  createTransparencyLogWorker,
  LastSignedTransparencyLog,
} from '../../src/push/transparencyLog.js'
import { logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { bid, freshName, randomAddress, startApi } from '../api/support.js'
import { queryOn } from '../support/database.js'
import { readEpoch } from '../support/epoch.js'
import { useFolder } from '../support/folder.js'
import { startReplica } from '../support/replica.js'
import { useWorld } from '../support/useWorld.js'

/** Tests of a log's worker when its database is replaced, or restored to an earlier state. */

const { signal } = new AbortController()
const keys = logKeysOfSeeds([Buffer.alloc(32, 7)])
const ORIGIN = 'names.example/mainnet/1'
const home = useFolder()
const world = useWorld(() => startApi())

const grow = (count: number) =>
  world.append(
    'mainnet',
    Array.from({ length: count }, () => bid({ from: randomAddress(), name: freshName() })),
  )

/** Creates a worker like a process that leads. */
async function workerOf(
  pool: pg.Pool,
  {
    memory = new LastSignedTransparencyLog(),
    by = keys,
    isEvidence = false,
    domain = 'names.example',
  } = {},
) {
  const epoch = await readEpoch(pool, 'mainnet', 'index')
  const wentBack: number[] = []
  const worker = createTransparencyLogWorker(
    { pool, network: 'mainnet', epoch },
    { domain, keys: by, memory, isEvidence, onWentBack: () => wentBack.push(epoch) },
  )
  const catchUp = async () => {
    while ((await worker.step(signal, () => {})) !== 'idle');
  }
  return { catchUp, wentBack }
}

const logOf = async (pool: pg.Pool) => (await readTransparencyLogState(pool, 'mainnet')).log

/** Checks that the feed restarts, with a log that names the previous one. */
async function begins(pool: pg.Pool, { origin, size, root }: StoredTransparencyLog): Promise<void> {
  expect(await logOf(pool)).toBe(null)
  await pool.query('UPDATE journal_heads SET caught_up = true')
  await (await workerOf(pool)).catchUp()
  const { log, previous } = await readTransparencyLogState(pool, 'mainnet')
  expect(log!.origin).not.toBe(origin)
  expect(previous).toMatchObject({ origin, size, root })
}

/** Signs the source's log, and returns a promoted standby of it. */
async function promoted(name: string, memory = new LastSignedTransparencyLog()) {
  await grow(3)
  const source = await workerOf(world.pool, { memory })
  await source.catchUp()
  const signed = (await logOf(world.pool))!
  return { signed, ...(await standby(name)) }
}

/** A promoted standby. */
async function standby(name: string) {
  const replica = await startReplica(world.postgres, join(home, name))
  const pool = createPool({ url: replica.url, max: 4, applicationName: 'test' })
  await pool.query('SELECT pg_promote()')
  const stop = async () => {
    if (!pool.ended) await pool.end()
    await replica.stop()
  }
  return { pool, url: replica.url, stop }
}

describe('the log of a feed', () => {
  it('restarts on a promoted standby, for a process that does not know what was signed', async () => {
    const { pool, signed, stop } = await promoted('unknown')
    const restarted = await workerOf(pool)
    await restarted.catchUp()
    expect(restarted.wentBack).toHaveLength(1)
    await begins(pool, signed)
    await stop()
  })

  it('continues on a standby for the process that signed last, and restarts in a copy', async () => {
    const memory = new LastSignedTransparencyLog()
    const { pool, url, signed, stop } = await promoted('known', memory)
    const leader = await workerOf(pool, { memory })
    await leader.catchUp()
    expect(leader.wentBack).toEqual([])
    expect(await logOf(pool)).toMatchObject({ origin: ORIGIN, root: signed.root })
    const another = await workerOf(pool)
    await another.catchUp()
    expect(another.wentBack).toEqual([])

    await pool.end()
    const server = Object.assign(new URL(url), { pathname: '/template1' }).href
    await queryOn(server, 'CREATE DATABASE copy TEMPLATE postgres')
    const copyUrl = Object.assign(new URL(url), { pathname: '/copy' }).href
    const copy = createPool({ url: copyUrl, max: 4, applicationName: 'test' })
    const staging = await workerOf(copy)
    await staging.catchUp()
    expect(staging.wentBack).toHaveLength(1)
    await begins(copy, signed)
    await copy.end()
    await stop()
  })

  it.each([
    ['feed', false],
    ['evidence', true],
  ])(
    'continues on a standby for the process that led, and signed nothing: %s',
    async (place, isEvidence) => {
      await grow(1)
      await (await workerOf(world.pool)).catchUp()
      await (await workerOf(world.pool, { isEvidence })).catchUp()
      const memory = new LastSignedTransparencyLog()
      await (await workerOf(world.pool, { memory, isEvidence })).catchUp()
      const { pool, stop } = await standby(`level-${place}`)
      const leader = await workerOf(pool, { memory, isEvidence })
      await leader.catchUp()
      expect(leader.wentBack).toEqual([])
      await stop()
    },
  )

  it('of evidence begins under the domain of the log of the feed', async () => {
    await world.pool.query('DELETE FROM logs WHERE network = 2')
    await world.pool.query('DELETE FROM log_tiles WHERE network = 2')
    await grow(1)
    await (await workerOf(world.pool)).catchUp()
    await (await workerOf(world.pool, { isEvidence: true, domain: 'new.example' })).catchUp()
    const { log } = await readTransparencyLogState(world.pool, 'mainnet/evidence')
    expect(log!.origin).toBe('names.example/mainnet/evidence/1')
  })

  it('continues when the last signed log was not written, but its events are there', async () => {
    const leader = await workerOf(world.pool, { memory: new LastSignedTransparencyLog() })
    await grow(2)
    await leader.catchUp()
    const { size, root, note } = (await logOf(world.pool))!
    await grow(2)
    await leader.catchUp()
    const signed = (await logOf(world.pool))!
    await world.pool.query(
      `UPDATE logs SET size = $1, root = $2, note = $3, server = 'another' WHERE origin = $4`,
      [size, root, note, signed.origin],
    )
    await grow(1)
    await leader.catchUp()
    expect(leader.wentBack).toEqual([])
    expect(await logOf(world.pool)).toMatchObject({ origin: signed.origin, size: signed.size + 3 })
  })

  it.each([
    ['others stand in its place', 1],
    ['fewer are there', 100],
  ])('restarts when signed events are missing: %s', async (_what, more) => {
    const memory = new LastSignedTransparencyLog()
    const leader = await workerOf(world.pool, { memory })
    await grow(2)
    await leader.catchUp()
    const before = (await logOf(world.pool))!
    const epoch = await readEpoch(world.pool, 'mainnet', 'index')
    memory.remember({ ...before, size: before.size + more, root: Buffer.alloc(32, 1) }, epoch)
    await grow(1)
    await leader.catchUp()
    expect(leader.wentBack).toHaveLength(1)
    await begins(world.pool, before)
  })

  it('continues when other processes have signed since', async () => {
    const memory = new LastSignedTransparencyLog()
    await grow(1)
    await (await workerOf(world.pool, { memory })).catchUp()
    const { origin } = (await logOf(world.pool))!
    await world.pool.query('UPDATE leaders SET epoch = epoch + 1')
    await grow(2)
    await (await workerOf(world.pool)).catchUp()
    await world.pool.query('UPDATE leaders SET epoch = epoch + 1')
    const again = await workerOf(world.pool, { memory })
    await again.catchUp()
    expect(again.wentBack).toEqual([])
    expect((await logOf(world.pool))!.origin).toBe(origin)
  })

  it('is not restarted by a former leader that was frozen while another process led and signed', async () => {
    await grow(1)
    const former = await workerOf(world.pool)
    await former.catchUp()
    await world.pool.query('UPDATE leaders SET epoch = epoch + 1')
    await grow(2)
    await (await workerOf(world.pool)).catchUp()
    const before = await readTransparencyLogState(world.pool, 'mainnet')
    await expect(former.catchUp()).rejects.toThrow(LostLeadershipError)
    expect(former.wentBack).toEqual([])
    expect(await readTransparencyLogState(world.pool, 'mainnet')).toEqual(before)
  })

  it('keeps its signed checkpoint when the leader has no key', async () => {
    await (await workerOf(world.pool)).catchUp()
    const before = await logOf(world.pool)
    const keyless = await workerOf(world.pool, { by: [] })
    await keyless.catchUp()
    await grow(1)
    await expect(keyless.catchUp()).rejects.toThrow('no key signs the log')
    expect(await logOf(world.pool)).toEqual(before)
  })

  it('continues on any server as long as it was never signed', async () => {
    const { origin } = (await logOf(world.pool))!
    await world.pool.query(`UPDATE logs SET note = NULL, server = 'another'`)
    const unsigned = await workerOf(world.pool, { by: [] })
    await unsigned.catchUp()
    expect(unsigned.wentBack).toEqual([])
    expect(await logOf(world.pool)).toMatchObject({ origin, note: null })
  })
})
