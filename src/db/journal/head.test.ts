import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { useDatabase } from '../../../test/support/database.js'
import type { ClusterChange } from '../../registry/journal/change.js'
import { takeLeadershipIfFree } from '../leaders/lead.js'
import { inTransaction } from '../pg/pool.js'
import { isDatabaseUnavailable } from '../pg/unavailable.js'
import { appendSignedChanges } from './appendSignedChanges.js'
import {
  assertIndexingLeader,
  assertRelayingLeader,
  endLeaderships,
  lockJournalHead,
  markCaughtUp,
  readJournalHead,
} from './head.js'

const YEAR_MS = 365 * 24 * 60 * 60_000
/** How long the head stays locked while a leader waits for it, ms. */
const HELD_MS = 200

const database = useDatabase()
let pool: pg.Pool

beforeAll(async () => {
  pool = database.pool
  await pool.query('UPDATE journal_heads SET caught_up = true')
})
afterEach(() => {
  vi.useRealTimers()
})

/** A change by a wallet that is used only once. */
function create(wallet: number) {
  const change: ClusterChange = {
    kind: 'create_cluster',
    actor: Buffer.of(1, ...Buffer.alloc(20, wallet)),
  }
  return appendSignedChanges(pool, { network: 'mainnet', changes: [change] })
}

const setClock = (nowMs: number) => vi.useFakeTimers({ toFake: ['Date'], now: nowMs })

it('an entry has the time of the database, whatever its writer’s clock shows', async () => {
  const startedMs = Date.now()
  // within the tolerance
  setClock(startedMs + 3_000)
  expect((await create(1)).kind).toBe('made')
  vi.useRealTimers()
  const { atMs } = await readJournalHead(pool, 'mainnet')
  expect(atMs).toBeGreaterThanOrEqual(startedMs)
  expect(atMs).toBeLessThanOrEqual(Date.now())
})

it.each([YEAR_MS, -YEAR_MS, 6_000])(
  'a writer whose clock is off by %s ms writes nothing, and later ones go on',
  async (offMs) => {
    const before = await readJournalHead(pool, 'mainnet')
    setClock(Date.now() + offMs)
    const failure = await create(2).catch((error: unknown) => error)
    vi.useRealTimers()
    expect(String(failure)).toMatch(/clocks of this host and of the database differ/)
    expect(isDatabaseUnavailable(failure)).toBe(true)
    expect(await readJournalHead(pool, 'mainnet')).toEqual(before)
  },
)

it('a write that only needs the leader’s row does not wait for the head’s lock', async () => {
  const index = (await takeLeadershipIfFree(pool, 'mainnet', 'index'))!
  const relay = (await takeLeadershipIfFree(pool, 'mainnet', 'relay'))!
  await inTransaction(pool, async (writer) => {
    await lockJournalHead(writer, 'mainnet', index.epoch)
    await inTransaction(pool, async (client) => {
      await client.query(`SET LOCAL lock_timeout = '1s'`)
      await assertRelayingLeader(client, 'mainnet', relay.epoch)
      await assertIndexingLeader(client, 'mainnet', index.epoch)
    })
    // the next leader does not wait either
    await relay.release()
    const next = (await takeLeadershipIfFree(pool, 'mainnet', 'relay'))!
    expect(next.epoch).toBe(relay.epoch + 1)
    await next.release()
  })
  await expect(assertRelayingLeader(pool, 'mainnet', relay.epoch)).rejects.toThrow(
    /another process leads the deliveries/,
  )
  await index.release()
})

it('a leader whose epoch ends while it waits for the head does not get it', async () => {
  const index = (await takeLeadershipIfFree(pool, 'mainnet', 'index'))!
  let late: Promise<unknown> = Promise.resolve()
  await inTransaction(pool, async (rewinding) => {
    await lockJournalHead(rewinding, 'mainnet', null)
    late = inTransaction(pool, (client) => lockJournalHead(client, 'mainnet', index.epoch)).catch(
      (error: unknown) => error,
    )
    const isWaiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
    await expect.poll(async () => (await pool.query(isWaiting)).rowCount).toBe(1)
    await sleep(HELD_MS)
    await endLeaderships(rewinding, 'mainnet', ['index'])
    await rewinding.query('UPDATE journal_heads SET caught_up = false WHERE network = 0')
  })
  expect(String(await late)).toMatch(/another process leads the indexing/)
  await expect(markCaughtUp(pool, 'mainnet', index.epoch)).rejects.toThrow(/another process leads/)
  expect((await readJournalHead(pool, 'mainnet')).caughtUp).toBe(false)
  await index.release()
})
