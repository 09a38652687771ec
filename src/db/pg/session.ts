import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { noticeClient } from './pool.js'
import { cut } from './silence.js'

/** Time limit of a new connection and of a statement on it. */
export const ANSWER_LIMIT_MS = 3_000
export const BEAT_MS = 1_000
/**
 * Time after which the server ends a client that froze: the session that holds a lead or listens, and a
 * transaction that it has left open. Who lives says something each second.
 */
export const FROZEN_MS = 4_000
/** Time limit of a farewell. */
export const CLOSE_LIMIT_MS = 1_000

/** A connection of its own, for locks and notifications, that is lost as soon as its server falls silent. */
export class Session {
  readonly client: pg.Client
  /** Settles when the connection is gone. */
  readonly lost: Promise<void>
  readonly #isLost = new AbortController()

  private constructor(url: string, applicationName: string) {
    this.client = new pg.Client({
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: ANSWER_LIMIT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: BEAT_MS,
    })
    this.lost = new Promise((resolve) => {
      this.#isLost.signal.addEventListener('abort', () => resolve(), { once: true })
    })
    const lose = () => this.#isLost.abort()
    this.client.on('error', lose).on('end', lose)
  }

  /** @param applicationName shown in pg_stat_activity */
  static async open(url: string, applicationName: string): Promise<Session> {
    const session = new Session(url, applicationName)
    await session.client.connect()
    await session.within(() => noticeClient(session.client))
    return session
  }

  /** Runs a statement on the connection, which is cut when it takes longer than the limit. */
  async within<T>(statement: () => Promise<T>, limitMs = ANSWER_LIMIT_MS): Promise<T> {
    // after a stall of this process, an answer that waits is read before the limit counts
    const late = setTimeout(() => setImmediate(() => isLate && cut(this.client, 'no answer in time')), limitMs)
    let isLate = true
    try {
      return await statement()
    } finally {
      isLate = false
      clearTimeout(late)
    }
  }

  /** Has the server end the session once it hears nothing, as of a process that froze. */
  async endWhenFrozen(): Promise<void> {
    await this.within(() => this.client.query(`SET idle_session_timeout = ${FROZEN_MS}`))
  }

  /** Runs a statement each second until the connection is gone, or the statement has failed. */
  beat(statement: () => Promise<unknown>): void {
    void this.#beat(statement).catch(() => cut(this.client, 'a heartbeat failed'))
  }

  async #beat(statement: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#isLost
    while (!signal.aborted) {
      await this.within(statement)
      await sleep(BEAT_MS, undefined, { signal }).catch(() => {})
    }
  }

  /** The server's number of this session, and that which it said when the connection was made. */
  async pids(): Promise<{ now: number; first: number }> {
    const sql = 'SELECT pg_backend_pid() AS pid'
    const { rows } = await this.within(() => this.client.query<{ pid: number }>(sql))
    return { now: rows[0]!.pid, first: (this.client as unknown as { processID: number }).processID }
  }

  async close(): Promise<void> {
    this.#isLost.abort()
    await this.within(() => this.client.end(), CLOSE_LIMIT_MS).catch(() => {})
  }
}

/** @throws Error with one sentence where the URL leads to a pooler */
export async function refusePooler(url: string): Promise<void> {
  if (await isPooled(url))
    throw new Error(
      'A pooler stands before PostgreSQL: set DATABASE_DIRECT_URL to the server itself, for locks and notifications; DATABASE_URL may stay the pooler’s.',
    )
}

/**
 * Whether a pooler stands before the server: a connection is another session of the server than the one it was told,
 * or another one by and by. Locks, notifications and settings of a session are nobody's there.
 */
async function isPooled(url: string): Promise<boolean> {
  const [one, other] = await Promise.all(['one', 'other'].map((name) => Session.open(url, `clusterd probe ${name}`)))
  try {
    const before = await one!.pids()
    // a transaction takes the session that was used last, where sessions are shared
    await other!.within(() => other!.client.query('BEGIN; SELECT 1'))
    const after = await one!.pids()
    return before.first !== before.now || before.now !== after.now
  } finally {
    await Promise.all([one!.close(), other!.close()])
  }
}
