import type pg from 'pg'
import { errorCause } from '../../ops/causes.js'
import { ADDRESS_ATTEMPT_MS } from '../../ops/connectAttemptTimeout.js'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import type { Logger } from '../../ops/logger/logger.js'
import type { LoopReporter, WorkerLoops } from '../../ops/loops.js'
import { createThrottle, errorKind } from '../../ops/throttle.js'
import { createLoopWaker, pauseUntilSignal } from '../../ops/waiting.js'
import { LeadershipEndedError } from '../../ops/worker.js'
import type { Network } from '../../registry/primitives/network.js'
import { type Listener, leadershipEndNotification } from '../pg/notify.js'
import { createPool, FROZEN_CLIENT_MS } from '../pg/pool.js'
import { prepared, query, readRows } from '../pg/rows.js'
import { assertClocksAgree, isLockTimeoutError, NOW_MS_SQL } from '../pg/unavailable.js'
import { LEADER_ROLE, type LeaderRole } from './leaders.js'

/**
 * Lifetime of a lease after its last renewal, ms. With the pause of a standby's polls, a take-over takes less than five
 * seconds.
 */
export const LEASE_MS = 3_500
/** Pause between two renewals of a lease, ms. */
export const LEASE_RENEWAL_INTERVAL_MS = 1_000
/** Pause between two polls of a standby, ms. */
export const STANDBY_POLL_MS = 500
/** Timeout of a statement about leases, ms. Its locks time out after half of it (`createPool`). */
const ANSWER_LIMIT_MS = 1_000
/**
 * Number of connections of the pool for leases. There are several, so that other renewals and polls continue while one
 * connection waits.
 */
export const LEASE_CONNECTIONS = 4

/**
 * Leadership of a network's indexing or relaying. Every write of the leader carries the epoch, so that writes of a
 * former leader fail.
 */
export interface Leadership {
  epoch: number
  /** Resolves when the lease has ended. */
  lost: Promise<void>
  /** Ends the lease, and notifies the processes that wait to lead. Never throws. */
  release(): Promise<void>
}

const OF_ROLE_SQL = 'network = $1 AND role = $2'
const CHECK_LEASE = `SELECT ${NOW_MS_SQL} AS now_ms, until_ms <= ${NOW_MS_SQL} AS is_free FROM leaders WHERE ${OF_ROLE_SQL}`
/**
 * Ends the sessions of processes of ours that froze while they sent a statement. No timeout of the server ends such a
 * session, and it keeps its locks.
 */
const END_FROZEN_WRITERS = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
  WHERE datname = current_database() AND pg_has_role(usesysid, 'USAGE') AND application_name LIKE 'clusterd %'
    AND state = 'active' AND wait_event = 'ClientRead' AND query_start < now() - interval '${FROZEN_CLIENT_MS} ms'`
/**
 * Takes the lease if it is free. Waits for transactions of the former leader, since each of them locks the epoch of the
 * row.
 */
const TAKE_LEASE = `UPDATE leaders
  SET epoch = epoch + 1, since_ms = ${NOW_MS_SQL}, until_ms = ${NOW_MS_SQL} + ${LEASE_MS}, backend = pg_backend_pid()
  WHERE ${OF_ROLE_SQL} AND until_ms <= ${NOW_MS_SQL} RETURNING epoch, since_ms`
/**
 * SQL condition: this process holds the lease. `since_ms` differs if the database failed over to a standby that did not
 * have the commit of the lease, and another process then took the lease with the same epoch.
 */
const IS_HELD_SQL = `${OF_ROLE_SQL} AND epoch = $3 AND since_ms = $4`
/** Renews the lease without a wait for the disk or a standby: a lost renewal only ends this process's leadership. */
const RENEW_LEASE =
  prepared(`UPDATE leaders SET until_ms = ${NOW_MS_SQL} + ${LEASE_MS}, backend = pg_backend_pid()
    WHERE ${IS_HELD_SQL} AND set_config('synchronous_commit', 'off', true) = 'off' RETURNING ${NOW_MS_SQL} AS now_ms`)
const RELEASE_LEASE = `WITH freed AS (UPDATE leaders SET until_ms = 0 WHERE ${IS_HELD_SQL} RETURNING epoch)
  SELECT pg_notify($5, $6) FROM freed`

/** Creates the pool with which a process takes and renews its leases. */
export const createLeasePool = (url: string): pg.Pool =>
  createPool({
    url,
    max: LEASE_CONNECTIONS,
    applicationName: 'clusterd lease',
    answerMs: ANSWER_LIMIT_MS,
    // a longer time than for answers: one of the server's addresses may be dead
    connectMs: ADDRESS_ATTEMPT_MS + ANSWER_LIMIT_MS,
  })

/**
 * Becomes the leader of the next epoch if nobody leads. Then renews the lease until `release`, or until it is lost.
 * @param alive called at each renewal
 * @returns null while another process leads
 * @throws ClockError when this process's clock is wrong: the times that it stores would delay jobs, also under other
 * leaders
 */
export async function takeLeadershipIfFree(
  pool: pg.Pool,
  network: Network,
  role: LeaderRole,
  alive = () => {},
): Promise<Leadership | null> {
  const startedMs = performance.now()
  const [row] = await query<{ nowMs: number; isFree: boolean }>(pool, network, CHECK_LEASE, [
    LEADER_ROLE[role],
  ])
  assertClocksAgree(row!.nowMs)
  if (!row!.isFree) return null
  await readRows(pool, END_FROZEN_WRITERS)
  const take = query<{ epoch: number; sinceMs: number }>(pool, network, TAKE_LEASE, [
    LEADER_ROLE[role],
  ])
  const taken = await fallbackOnExpectedError(take, isLockTimeoutError, [])
  if (taken.length === 0) return null
  const { epoch, sinceMs } = taken[0]!
  const held = [LEADER_ROLE[role], epoch, sinceMs]
  const released = new AbortController()
  const renew = async () => {
    const [renewed] = await query<{ nowMs: number }>(pool, network, RENEW_LEASE, held)
    if (renewed) assertClocksAgree(renewed.nowMs)
    endFrozenWritersOnceForAll(pool)
    if (renewed) alive()
    return renewed !== undefined
  }
  const lost = renewUntilLost(renew, startedMs, released.signal)
  const release = async () => {
    released.abort()
    // waits for a running renewal, which would take the lease again
    await lost
    await query(pool, network, RELEASE_LEASE, [
      ...held,
      ...leadershipEndNotification(network),
    ]).catch(() => {})
  }
  return { epoch, lost, release }
}

/** Time at which each pool last sent `END_FROZEN_WRITERS`, ms of the monotonic clock. */
const endFrozenSentMs = new WeakMap<pg.Pool, number>()

/** Sends `END_FROZEN_WRITERS`, at most once in half a second for all leases of a pool. Never throws. */
function endFrozenWritersOnceForAll(pool: pg.Pool): void {
  const nowMs = performance.now()
  const sinceMs = nowMs - (endFrozenSentMs.get(pool) ?? Number.NEGATIVE_INFINITY)
  if (sinceMs < LEASE_RENEWAL_INTERVAL_MS / 2) return
  endFrozenSentMs.set(pool, nowMs)
  void readRows(pool, END_FROZEN_WRITERS).catch(() => {})
}

/**
 * Renews a lease until it is released, another process takes it, the clock is wrong, or it expires before the next
 * renewal.
 * @param renew returns whether this process still holds the lease. It may throw ClockError and database errors.
 * @param sinceMs time at which the lease was taken, ms of the monotonic clock
 */
async function renewUntilLost(
  renew: () => Promise<boolean>,
  sinceMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (let lastMs = sinceMs; ; ) {
    await pauseUntilSignal(LEASE_RENEWAL_INTERVAL_MS, signal)
    if (signal.aborted) return
    const askedMs = performance.now()
    try {
      if (!(await renew())) return
      lastMs = askedMs
    } catch (error) {
      const isOver = performance.now() - lastMs > LEASE_MS - LEASE_RENEWAL_INTERVAL_MS
      if (isOver || (error as Error).name === 'ClockError') return
    }
  }
}

export interface LeadershipOptions {
  /** Pool that is used only for leases. */
  leases: pg.Pool
  /** Reports when another process gives up its leadership. */
  listener: Listener
  network: Network
  role: LeaderRole
  signal: AbortSignal
  /** Reports in the process's status whether it leads or tries to lead. */
  loops: WorkerLoops
  log: Logger
  /**
   * Called when the work or an attempt to lead fails, at most once a minute for failures of one kind. Work and attempts
   * are repeated in any case. A failure of the database is reported only if the attempt before failed too.
   */
  onError: (error: Error) => void
}

/** Time for which a failure of the same kind is not reported again, ms. */
const REPORT_EVERY_MS = 60_000

type LeaderWork = (epoch: number, signal: AbortSignal) => Promise<void>

/** Runs `work` whenever this process leads, until the signal. The signal of `work` fires when the leadership ends. */
export async function whileLeading(options: LeadershipOptions, work: LeaderWork): Promise<void> {
  const { signal, network, role, listener, log } = options
  const isNews = createThrottle(REPORT_EVERY_MS)
  const loop = options.loops.register({ name: `the lead (${role})`, network })
  const waker = createLoopWaker()
  const unsubscribe = listener.subscribe(
    (payload) => payload === leadershipEndNotification(network)[1] && waker.notify(),
  )
  let failures = 0
  const failed = (error: Error) => {
    // a stop of the process interrupts the work, which is no failure
    if (signal.aborted) return
    loop.failed(error)
    failures += 1
    // a single timeout may only mean that the server is busy
    const mayPass = failures === 1 && errorCause(error) === 'database'
    if (!mayPass && isNews(errorKind(error))) options.onError(error)
  }
  let standsBy = false
  while (!signal.aborted) {
    await leadOnce(options, loop, work).then((hasLed) => {
      failures = 0
      if (!hasLed && !standsBy) log.info({ network, role }, 'standing by: another process leads')
      standsBy = !hasLed
    }, failed)
    await waker.wait(STANDBY_POLL_MS, signal)
  }
  unsubscribe()
  loop.end()
}

/**
 * Runs the work for as long as this process leads. Does nothing while another process leads.
 * @returns whether this process led
 */
async function leadOnce(
  { leases, network, role, signal }: LeadershipOptions,
  loop: LoopReporter,
  work: LeaderWork,
): Promise<boolean> {
  const leadership = await takeLeadershipIfFree(leases, network, role, loop.turned)
  loop.succeeded()
  if (!leadership) return false
  const { epoch } = leadership
  const lost = new AbortController()
  leadership.lost.then(() =>
    lost.abort(new LeadershipEndedError(`the lease of epoch ${epoch} has ended`)),
  )
  try {
    await work(epoch, AbortSignal.any([signal, lost.signal]))
    return true
  } finally {
    await leadership.release()
  }
}
