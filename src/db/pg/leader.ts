import type pg from 'pg'
import { causeOf } from '../../ops/causes.js'
import { orIf } from '../../ops/log/errors.js'
import type { Loop, Loops } from '../../ops/loops.js'
import { createNotify, pause } from '../../ops/notify.js'
import { oncePerMinute } from '../../ops/oncePerMinute.js'
import { LeadLostError } from '../../ops/worker.js'
import type { Network } from '../../registry/primitives/network.js'
import { LEADER_ROLE, type LeaderRole } from './codes.js'
import { type Listener, leadNotice } from './notify.js'
import { createPool, FROZEN_MS } from './pool.js'
import { query, readRows } from './rows.js'
import { assertClock, isLockTimeout, NOW_MS } from './unavailable.js'

/** Time for which a lead is held from its last renewal: with a look it is less than five seconds. */
export const LEASE_MS = 3_500
/** Between two renewals of a lead. */
export const RENEW_MS = 1_000
/** Between two looks of who stands by. */
export const LOOK_MS = 500
/** Time limit of a statement about leases, of a new connection for it, and of a lock that it waits for. */
const ANSWER_LIMIT_MS = 1_000
/** Leads and looks of a process that go on beside one that waits. */
export const LEASE_CONNECTIONS = 4

/** Every write of the leader carries the epoch, so writes of a former leader fail. */
export interface Leadership {
  epoch: number
  /** Settles when the lease has ended. */
  lost: Promise<void>
  release(): Promise<void>
}

const LEASE = 'network = $1 AND role = $2'
const LOOK = `SELECT ${NOW_MS} AS now_ms, until_ms <= ${NOW_MS} AS is_free FROM leaders WHERE ${LEASE}`
/** Ends writers that froze as they sent a statement: no time limit of the server does, and they keep locks. */
const END_FROZEN = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
  WHERE datname = current_database() AND pg_has_role(usesysid, 'USAGE') AND application_name LIKE 'clusterd %'
    AND state = 'active' AND wait_event = 'ClientRead' AND query_start < now() - interval '${FROZEN_MS} ms'`
/** Waits for transactions of the former leader: the epoch is part of a key, and each locks that key. */
const TAKE = `UPDATE leaders
  SET epoch = epoch + 1, since_ms = ${NOW_MS}, until_ms = ${NOW_MS} + ${LEASE_MS}, backend = pg_backend_pid()
  WHERE ${LEASE} AND until_ms <= ${NOW_MS} RETURNING epoch, since_ms`
/** Of a lease that a server lost in a fail-over, and another process took with the same epoch, the time differs. */
const HELD = `${LEASE} AND epoch = $3 AND since_ms = $4`
/** Waits for no disk and no standby: a renewal that is lost ends a lead, no more. */
const RENEW = `UPDATE leaders SET until_ms = ${NOW_MS} + ${LEASE_MS}, backend = pg_backend_pid()
  WHERE ${HELD} AND set_config('synchronous_commit', 'off', true) = 'off' RETURNING ${NOW_MS} AS now_ms`
const FREE = `WITH freed AS (UPDATE leaders SET until_ms = 0 WHERE ${HELD} RETURNING epoch)
  SELECT pg_notify($5, $6) FROM freed`

/** The connections with which a process takes and renews its leases. */
export const createLeasePool = (url: string): pg.Pool =>
  createPool({
    url,
    max: LEASE_CONNECTIONS,
    applicationName: 'clusterd lease',
    answerMs: ANSWER_LIMIT_MS,
  })

/**
 * Takes the lead where nobody holds it, with the next epoch, and renews the lease until its release.
 * @param alive called at each renewal
 * @returns null while another process leads
 * @throws ClockError when this process's clock is off: what it put off would wait for its time, under other leaders too
 */
export async function tryLead(
  pool: pg.Pool,
  network: Network,
  role: LeaderRole,
  alive = () => {},
): Promise<Leadership | null> {
  const heldMs = performance.now()
  const [look] = await query<{ nowMs: number; isFree: boolean }>(pool, network, LOOK, [
    LEADER_ROLE[role],
  ])
  assertClock(look!.nowMs)
  if (!look!.isFree) return null
  await readRows(pool, END_FROZEN)
  const take = query<{ epoch: number; sinceMs: number }>(pool, network, TAKE, [LEADER_ROLE[role]])
  const taken = await orIf(take, isLockTimeout, [])
  if (taken.length === 0) return null
  const { epoch, sinceMs } = taken[0]!
  const held = [LEADER_ROLE[role], epoch, sinceMs]
  const released = new AbortController()
  const renew = async () => {
    const [renewed] = await query<{ nowMs: number }>(pool, network, RENEW, held)
    if (renewed) assertClock(renewed.nowMs)
    void readRows(pool, END_FROZEN).catch(() => {})
    if (renewed) alive()
    return renewed !== undefined
  }
  const lost = renewed(renew, heldMs, released.signal)
  const release = async () => {
    released.abort()
    // a renewal under way takes the lease again
    await lost
    await query(pool, network, FREE, [...held, ...leadNotice(network)]).catch(() => {})
  }
  return { epoch, lost, release }
}

/**
 * Renews a lease until it is released, another process has it, the clock is off, or it has run out.
 * @param renew tells whether it is held still @throws ClockError; as the database fails
 * @param sinceMs when it was taken, ms of the monotonic clock
 */
async function renewed(
  renew: () => Promise<boolean>,
  sinceMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (let lastMs = sinceMs; ; ) {
    await pause(RENEW_MS, signal)
    if (signal.aborted) return
    const askedMs = performance.now()
    try {
      if (!(await renew())) return
      lastMs = askedMs
    } catch (error) {
      const isOver = performance.now() - lastMs > LEASE_MS - RENEW_MS
      if (isOver || (error as Error).name === 'ClockError') return
    }
  }
}

export interface LeadOptions {
  /** For the leases alone. */
  leases: pg.Pool
  /** Says when a lead is given up. */
  listener: Listener
  network: Network
  role: LeaderRole
  signal: AbortSignal
  /** Shows that this process leads, or tries to. */
  loops: Loops
  /**
   * Called with the failure of the work or of the attempt to lead, not with each that repeats; another follows. A failure
   * of the database is passed on from the second in a row.
   */
  onError: (error: Error) => void
}

type Work = (epoch: number, signal: AbortSignal) => Promise<void>

/** Runs `work` while this process leads, until the signal; the work's own fires at the end of a lead. */
export async function whileLeading(options: LeadOptions, work: Work): Promise<void> {
  const { signal, network, role, listener } = options
  const onError = oncePerMinute(options.onError)
  const loop = options.loops.start({ name: `the lead (${role})`, network })
  const freed = createNotify()
  const unhear = listener.subscribe(
    (payload) => payload === leadNotice(network)[1] && freed.notify(),
  )
  let failures = 0
  const failed = (error: Error) => {
    // a stop cuts steps short: nobody tries again, and nothing is wrong
    if (signal.aborted) return
    loop.failed(error)
    failures += 1
    // a busy server may miss one time limit
    if (failures > 1 || causeOf(error) !== 'database') onError(error)
  }
  while (!signal.aborted) {
    await leadOnce(options, loop, work).then(() => {
      failures = 0
    }, failed)
    await freed.wait(LOOK_MS, signal)
  }
  unhear()
  loop.end()
}

/** Works where the lead is free, as long as it is held. */
async function leadOnce(
  { leases, network, role, signal }: LeadOptions,
  loop: Loop,
  work: Work,
): Promise<void> {
  const leadership = await tryLead(leases, network, role, loop.turned)
  loop.succeeded()
  if (!leadership) return
  const { epoch } = leadership
  const lost = new AbortController()
  leadership.lost.then(() => lost.abort(new LeadLostError(`the lease of epoch ${epoch} has ended`)))
  try {
    await work(epoch, AbortSignal.any([signal, lost.signal]))
  } finally {
    await leadership.release()
  }
}
