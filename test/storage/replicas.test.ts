import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPool } from '../../src/db/pg/pool.js'
import { createSqlFeedCopyWorker } from '../../src/push/sql.js'
import { memberOf } from '../api/members.js'
import { bid, freshName, randomAddress, secondApi, startApi } from '../api/support.js'
import { readEpoch } from '../support/epoch.js'
import { useFolder } from '../support/folder.js'
import { startReplica } from '../support/replica.js'
import { useWorld } from '../support/useWorld.js'

/** An API whose database is a standby with streaming replication. */

const home = useFolder()
const world = useWorld(() => startApi())
const standby = useWorld(() => startReplica(world.postgres, join(home, 'pg')))
let pool: pg.Pool
let api: Awaited<ReturnType<typeof secondApi>>

beforeAll(async () => {
  pool = createPool({ url: standby.url, max: 4, applicationName: 'test', isByIndex: true })
  api = await secondApi({ pool }, {})
})
afterAll(async () => {
  await api?.stop()
  await pool?.end()
})

async function call(path: string, init: RequestInit = {}) {
  const response = await fetch(`${api.url}${path}`, init)
  return { status: response.status, body: JSON.parse(await response.text()) }
}

it('answers look-ups like the primary, and changes with 503', async () => {
  const name = freshName()
  await world.append('mainnet', [bid({ from: randomAddress(), name })])
  const asked = `/v1/clusters/name/${name}`
  await expect.poll(async () => (await call(asked)).status, { timeout: 20_000 }).toBe(200)
  expect(await call(asked)).toEqual(
    await world.get(asked).then(({ status, body }) => ({ status, body })),
  )

  const worker = createSqlFeedCopyWorker({
    pool: world.pool,
    network: 'mainnet',
    epoch: await readEpoch(world.pool, 'mainnet', 'index'),
  })
  await worker.step(new AbortController().signal, () => {})
  const byAnalyst = () =>
    pool.query('SELECT count(*)::int FROM registry_v1.names WHERE name = $1', [name])
  await expect.poll(async () => (await byAnalyst()).rows[0].count).toBe(1)

  const member = await memberOf(world)
  const change = { method: 'POST', headers: member.headers }
  // until the standby has replayed the session, the key is unknown
  await expect.poll(async () => (await call('/v1/clusters', change)).status).toBe(503)
  expect((await world.request('/v1/clusters', change)).status).toBe(200)
})
