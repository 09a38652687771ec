import type pg from 'pg'
import type { Loop, Loops } from '../../ops/loops.js'
import { pause } from '../../ops/notify.js'
import { sampled } from '../../ops/sampled.js'
import { LeadLostError } from '../../ops/worker.js'
import type { Network } from '../../registry/primitives/network.js'
import { LEADER_ROLE, type LeaderRole, lockKeys } from './codes.js'
import { CLOCK, type Listener, LOOK_MS, unlock } from './notify.js'
import { query, readRows } from './rows.js'
import { BEAT_MS, CLOSE_LIMIT_MS, FROZEN_MS, Session } from './session.js'
import { assertClock, MAX_SKEW_MS } from './unavailable.js'

/** A held leadership: every write of the leader carries its epoch, so that writes of a former leader fail. */
export interface Leadership {
  epoch: number
  /** Settles when the connection that holds the lock is gone. */
  lost: Promise<void>
  release(): Promise<void>
}

/** Time limit of the next epoch, which waits for transactions of the former leader. */
const EPOCH_LIMIT_MS = 10_000

/** Statements of writers that wait for their process, by what changes while that one sends: a COPY grows. */
const WAITING = `SELECT a.pid, a.query_start, concat_ws(' ', a.pid, a.query_start, p.bytes_processed) AS at
  FROM pg_stat_activity a LEFT JOIN pg_stat_progress_copy p USING (pid)
  WHERE a.datname = current_database() AND usename = current_user AND application_name ~ '^clusterd (read|write) '
    AND state = 'active' AND wait_event = 'ClientRead'`
/** The heartbeat of a leader: ends the COPY of a writer that froze in it, which no time limit of the server does. */
const BEAT = `WITH w AS MATERIALIZED (${WAITING})
  SELECT now_ms, ARRAY(SELECT at FROM w) AS waiting,
    (SELECT count(pg_terminate_backend(pid)) FROM w WHERE at = ANY ($1)) AS ended
  FROM (${CLOCK}) AS clock`
/** Ends those that began under the leader before, which may hold what the next epoch needs. */
const END_OLD = `SELECT count(pg_terminate_backend(pid)) FROM (${WAITING}) AS w
  WHERE query_start < now() - interval '${FROZEN_MS} ms'`
/** Takes the lock, unless the caller's clock is off. */
const LOCK = `SELECT now_ms,
    CASE WHEN abs(now_ms - $3) <= ${MAX_SKEW_MS} THEN pg_try_advisory_lock($1, $2) ELSE false END AS locked
  FROM (${CLOCK}) AS clock`

const NEXT_EPOCH = 'UPDATE leaders SET epoch = epoch + 1 WHERE network = $1 AND role = $2 RETURNING epoch'

/** @returns the heartbeat of a lead, which throws a ClockError when this process's clock is off */
function heartbeat(client: pg.Client): () => Promise<void> {
  /** When each of those that wait was first found where it is, ms of the monotonic clock. */
  const sinceMs = new Map<string, number>()
  return async () => {
    const nowMs = performance.now()
    const frozen = [...sinceMs].filter(([, atMs]) => nowMs - atMs >= FROZEN_MS - BEAT_MS).map(([at]) => at)
    const [found] = await readRows<{ nowMs: number; waiting: string[] }>(client, BEAT, [frozen])
    for (const at of sinceMs.keys()) if (!found!.waiting.includes(at)) sinceMs.delete(at)
    for (const at of found!.waiting) if (!sinceMs.has(at)) sinceMs.set(at, nowMs)
    assertClock(found!.nowMs)
  }
}

type Lead = Pick<LeadOptions, 'network' | 'role'>

/**
 * Takes the lead where nobody holds it, on a connection of its own: a session-level advisory lock, then the next
 * epoch.
 * @param alive called at each heartbeat of the leader
 * @returns null while another process leads
 * @throws ClockError when this process's clock is off: what it put off would wait for its time, under other leaders too
 */
export async function tryLead(
  url: string,
  network: Network,
  role: LeaderRole,
  alive?: () => void,
): Promise<Leadership | null> {
  const session = await Session.open(url, `clusterd ${role} leader ${network}`)
  let leadership: Leadership | null = null
  try {
    leadership = await takeLead(session, { network, role }, alive)
    return leadership
  } finally {
    if (!leadership) await session.close()
  }
}

async function takeLead(session: Session, { network, role }: Lead, alive = () => {}): Promise<Leadership | null> {
  const { client } = session
  const keys = lockKeys(network, role)
  await session.endWhenFrozen()
  const asked = [...keys, Date.now()]
  const [held] = await session.within(() => readRows<{ locked: boolean; nowMs: number }>(client, LOCK, asked))
  assertClock(held!.nowMs)
  if (!held!.locked) return null
  await session.within(() => readRows(client, END_OLD))
  const next = () => query<{ epoch: number }>(client, network, NEXT_EPOCH, [LEADER_ROLE[role]])
  const [led] = await session.within(next, EPOCH_LIMIT_MS)
  const beat = heartbeat(client)
  session.beat(() => beat().then(alive))
  const release = async () => {
    await session.within(() => unlock(client, network, keys), CLOSE_LIMIT_MS).catch(() => {})
    await session.close()
  }
  return { epoch: led!.epoch, lost: session.lost, release }
}

export interface LeadOptions {
  /** Says when the lead is free; the lead itself has a connection of its own. */
  listener: Listener
  network: Network
  role: LeaderRole
  signal: AbortSignal
  /** Shows that this process leads, or tries to. */
  loops: Loops
  /** Called with the failure of the work or of the attempt to lead, not with each that repeats; another follows. */
  onError: (error: Error) => void
}

type Work = (epoch: number, signal: AbortSignal) => Promise<void>

/** Runs `work` whenever this process leads in the role, until the signal; the work's own fires at the end of a lead. */
export async function whileLeading(options: LeadOptions, work: Work): Promise<void> {
  const { signal, network, role } = options
  const onError = sampled(options.onError)
  const loop = options.loops.start({ name: `the lead (${role})`, network })
  while (!signal.aborted) {
    await standBy(options, loop, work).catch((error: Error) => {
      // a stop cuts steps short: nobody tries again, and nothing is wrong
      if (signal.aborted) return
      loop.failed(error)
      onError(error)
    })
    await pause(LOOK_MS, signal)
  }
  loop.end()
}

/** Looks for the lead until the signal, or until it has led once. */
async function standBy({ listener, network, role, signal }: LeadOptions, loop: Loop, work: Work): Promise<void> {
  const [, key] = lockKeys(network, role)
  while (!signal.aborted) {
    const held = await listener.held()
    const leadership = held && !held.has(key) ? await tryLead(listener.url, network, role, loop.turned) : null
    loop.succeeded()
    if (leadership) return await workWhileHeld(leadership, signal, work)
  }
}

async function workWhileHeld(leadership: Leadership, signal: AbortSignal, work: Work): Promise<void> {
  const { epoch } = leadership
  const lost = new AbortController()
  leadership.lost.then(() => lost.abort(new LeadLostError(`the connection of epoch ${epoch} is gone`)))
  try {
    await work(epoch, AbortSignal.any([signal, lost.signal]))
  } finally {
    await leadership.release()
  }
}
