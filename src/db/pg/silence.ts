import type { Socket } from 'node:net'
import pg from 'pg'

/** Between two looks at the connections of a pool. */
const LOOK_MS = 500
/** Silence of a connection that owes an answer from which the server is asked whether it is at work for it. */
export const SUSPECT_MS = 1_500
/** Time limit of the question, its new connection included. */
const ASK_LIMIT_MS = 2_000
const SUSPECT_LOOKS = SUSPECT_MS / LOOK_MS
/** Looks between two questions about the same connection. */
const LOOKS_BETWEEN = 4

/** What the driver's client has beyond its types. */
interface Driver {
  connection: { stream: Socket }
  readyForQuery: boolean
  _ending: boolean
  /** Of the server's process; behind a pooler it is none of the server's. */
  processID: number
}
const driverOf = (client: pg.ClientBase) => client as unknown as Driver

/** Whether the server has to say something: an answer, or goodbye. */
function isOwed(client: pg.ClientBase): boolean {
  const { readyForQuery, _ending } = driverOf(client)
  return !readyForQuery || _ending
}

const bytesOf = (client: pg.ClientBase): number => {
  const { stream } = driverOf(client).connection
  return stream.bytesRead + stream.bytesWritten
}

/** Closes a connection at once, whatever it waits for; its queries fail. */
function cut(client: pg.ClientBase, reason: string): void {
  driverOf(client).connection.stream.destroy(new Error(`Connection terminated: ${reason}`))
}

/** Looks in a row at which a connection was owed an answer and had moved no byte; a stalled process does not look. */
class Silence {
  looks = 0
  #bytes = -1

  look(client: pg.PoolClient): void {
    this.looks = this.lasts(client) ? this.looks + 1 : 0
    this.#bytes = bytesOf(client)
  }

  /** Whether nothing has moved since the last look, and an answer is owed still. */
  lasts(client: pg.PoolClient): boolean {
    return isOwed(client) && bytesOf(client) === this.#bytes
  }
}

export interface SilenceOptions {
  url: string
  /** Of the pool's connections and of no others. */
  applicationName: string
  /** Whether a pooler stands between, which hides the server's process of a connection. */
  isPooled: boolean
  /** Silence after which a connection is closed whatever the server says, ms; none where it is left out. */
  limitMs?: number | undefined
}

/**
 * Closes connections of a pool whose other end has fallen silent, as behind a proxy after a failover: TCP doesn't tell.
 * A connection in use is closed when the server, asked on a new connection, runs no statement of it (of this pool,
 * behind a pooler); the idle ones go with it.
 */
export class SilenceWatch {
  readonly #options: SilenceOptions
  readonly #connections = new Map<pg.PoolClient, Silence>()
  #timer: NodeJS.Timeout | undefined
  #isAsking = false

  constructor(pool: pg.Pool, options: SilenceOptions) {
    this.#options = options
    pool.on('remove', (client) => this.#remove(client))
  }

  /** Watches a new connection until the pool removes it. */
  add(client: pg.PoolClient): void {
    this.#connections.set(client, new Silence())
    client.once('end', () => this.#remove(client))
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref()
  }

  #remove(client: pg.PoolClient): void {
    this.#connections.delete(client)
    if (this.#connections.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    const { limitMs = Number.POSITIVE_INFINITY } = this.#options
    let isSuspect = false
    for (const [client, silence] of this.#connections) {
      silence.look(client)
      if (silence.looks * LOOK_MS >= limitMs) cut(client, 'no answer in time')
      isSuspect ||= silence.looks >= SUSPECT_LOOKS && (silence.looks - SUSPECT_LOOKS) % LOOKS_BETWEEN === 0
    }
    if (isSuspect) void this.#ask()
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    // a server that can't be asked leaves the time limit alone
    const working = await workingProcesses(this.#options).catch(() => null)
    this.#isAsking = false
    if (!working) return
    const { isPooled } = this.#options
    // the answer may have come while the server was asked
    const suspects = [...this.#connections].filter(
      ([client, silence]) => silence.looks >= SUSPECT_LOOKS && silence.lasts(client),
    )
    const isAtWork = (client: pg.PoolClient) => (isPooled ? working.size > 0 : working.has(driverOf(client).processID))
    const silent = suspects.map(([client]) => client).filter((client) => !isAtWork(client))
    if (silent.length === 0) return
    const idle = [...this.#connections.keys()].filter((client) => !isOwed(client))
    for (const client of [...silent, ...idle]) cut(client, 'it has fallen silent')
  }
}

const AT_WORK = `SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND state = 'active'`

/** Processes of the server that new connections reach, those that run a statement of a pool. */
async function workingProcesses({ url, applicationName }: SilenceOptions): Promise<Set<number>> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: ASK_LIMIT_MS,
    application_name: 'clusterd probe',
  })
  client.on('error', () => {})
  const late = setTimeout(() => cut(client, 'no answer in time'), ASK_LIMIT_MS)
  try {
    await client.connect()
    const { rows } = await client.query<{ pid: number }>(AT_WORK, [applicationName])
    return new Set(rows.map(({ pid }) => pid))
  } finally {
    clearTimeout(late)
    cut(client, 'asked')
  }
}
