import type pg from 'pg'
import type { Loop, Loops } from '../../ops/loops.js'
import { pause } from '../../ops/notify.js'
import { sampled } from '../../ops/sampled.js'
import { LeadLostError } from '../../ops/worker.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { LEADER_ROLE, type LeaderRole } from './codes.js'
import { query, readRows } from './rows.js'
import { Session } from './session.js'
import { assertClock, MAX_SKEW_MS } from './unavailable.js'

/** First key of the advisory locks: "clus". */
const LOCK_CLASS = 0x636c7573
/** Purposes of a network's advisory locks: leaders, an operator's rewind, the load of an airdrop. Never renumber. */
const LOCK_PURPOSE = { index: 0, relay: 1, rewind: 2, load: 3 } as const

/** Both keys of a network's advisory lock. */
export const lockKeys = (network: Network, purpose: keyof typeof LOCK_PURPOSE): [number, number] => [
  LOCK_CLASS,
  NETWORK_CODE[network] * 16 + LOCK_PURPOSE[purpose],
]

/** A held leadership: every write of the leader carries its epoch, so that writes of a former leader fail. */
export interface Leadership {
  epoch: number
  /** Settles when the connection that holds the lock is gone. */
  lost: Promise<void>
  release(): Promise<void>
}

/**
 * Time after which the server ends a client that froze: the session that holds the lock, and a transaction that it has
 * left open. A leader that lives says something each second.
 */
export const FROZEN_MS = 4_000
/** Time limit of the next epoch, which waits for transactions of the former leader. */
const EPOCH_LIMIT_MS = 10_000

const CLOCK = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms`
/** The heartbeat of a leader: ends the COPY of a writer that froze in it, which no time limit of the server does. */
const BEAT = `SELECT now_ms, (SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
  WHERE datname = current_database() AND usename = current_user AND application_name ~ '^clusterd (read|write) '
    AND state = 'active' AND wait_event = 'ClientRead' AND query_start < now() - interval '${FROZEN_MS} ms') AS ended
  FROM (${CLOCK}) AS clock`
/** Takes the lock, unless the caller's clock is off. */
const LOCK = `SELECT now_ms,
    CASE WHEN abs(now_ms - $3) <= ${MAX_SKEW_MS} THEN pg_try_advisory_lock($1, $2) ELSE false END AS locked
  FROM (${CLOCK}) AS clock`

const NEXT_EPOCH = 'UPDATE leaders SET epoch = epoch + 1 WHERE network = $1 AND role = $2 RETURNING epoch'

/** @throws ClockError when this process's clock is off */
async function beat(client: pg.Client): Promise<void> {
  const [clock] = await readRows<{ nowMs: number }>(client, BEAT)
  assertClock(Number(clock!.nowMs))
}

/** Opens the connection on which a process tries to lead a network in a role. */
async function openCandidate(url: string, network: Network, role: LeaderRole): Promise<Session> {
  const session = await Session.open(url, `clusterd ${role} leader ${network}`)
  await session.within(() => session.client.query(`SET idle_session_timeout = ${FROZEN_MS}`))
  return session
}

/**
 * Takes the lead where nobody holds it: a session-level advisory lock, then the next epoch; null where one does.
 * @param alive called at each heartbeat of the leader
 * @throws ClockError when this process's clock is off: what it put off would wait for its time, under other leaders too
 */
async function takeLead(
  session: Session,
  { network, role }: Pick<LeadOptions, 'network' | 'role'>,
  alive = () => {},
): Promise<Leadership | null> {
  const { client } = session
  const asked = [...lockKeys(network, role), Date.now()]
  const [held] = await session.within(() => readRows<{ locked: boolean; nowMs: number }>(client, LOCK, asked))
  assertClock(Number(held!.nowMs))
  if (!held!.locked) return null
  await session.within(() => beat(client))
  const next = () => query<{ epoch: number }>(client, network, NEXT_EPOCH, [LEADER_ROLE[role]])
  const [led] = await session.within(next, EPOCH_LIMIT_MS)
  session.beat(() => beat(client).then(alive))
  return { epoch: led!.epoch, lost: session.lost, release: () => session.close() }
}

/** Tries once to lead a network in a role. @returns null while another process leads */
export async function tryLead(url: string, network: Network, role: LeaderRole): Promise<Leadership | null> {
  const session = await openCandidate(url, network, role)
  const leadership = await takeLead(session, { network, role }).catch(async (error: unknown) => {
    await session.close()
    throw error
  })
  if (!leadership) await session.close()
  return leadership
}

/** Between two attempts to lead: with the time after which a frozen leader is ended, at most five seconds. */
const LEADER_POLL_MS = 500

export interface LeadOptions {
  url: string
  network: Network
  role: LeaderRole
  signal: AbortSignal
  /** Shows that this process leads, or tries to. */
  loops: Loops
  /** Called with the failure of the work or of the attempt to lead, not with each that repeats; another follows. */
  onError: (error: Error) => void
}

/** Runs `work` whenever this process leads in the role, until the signal; the work's own fires at the end of a lead. */
export async function whileLeading(
  options: LeadOptions,
  work: (epoch: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { signal, network, role } = options
  const onError = sampled(options.onError)
  const loop = options.loops.start({ name: `the lead (${role})`, network })
  while (!signal.aborted) {
    await standBy(options, loop, work).catch((error: Error) => {
      loop.failed(error)
      onError(error)
    })
    await pause(LEADER_POLL_MS, signal)
  }
  loop.end()
}

/** Tries to lead on one connection until the signal, or until it has led once. */
async function standBy(
  { url, network, role, signal }: LeadOptions,
  loop: Loop,
  work: (epoch: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const session = await openCandidate(url, network, role)
  try {
    while (!signal.aborted) {
      const leadership = await takeLead(session, { network, role }, loop.turned)
      loop.succeeded()
      if (leadership) return await workWhileHeld(leadership, signal, work)
      await pause(LEADER_POLL_MS, signal)
    }
  } finally {
    await session.close()
  }
}

async function workWhileHeld(
  leadership: Leadership,
  signal: AbortSignal,
  work: (epoch: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const lost = new AbortController()
  leadership.lost.then(() => lost.abort(new LeadLostError(`the connection of epoch ${leadership.epoch} is gone`)))
  await work(leadership.epoch, AbortSignal.any([signal, lost.signal]))
}
