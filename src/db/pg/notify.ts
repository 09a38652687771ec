import type { Loop, Loops } from '../../ops/loops.js'
import { createNotify, pause } from '../../ops/notify.js'
import type { Network } from '../../registry/primitives/network.js'
import { LOCK_CLASS, type LockKeys } from './codes.js'
import { type Queryable, readRows } from './rows.js'
import { Session } from './session.js'
import { assertClock } from './unavailable.js'

/** The channel on which processes wake each other; a notification's payload is the network that changed. */
export const CHANNEL = 'clusterd'
/** Follows the network where nothing changed but a chain's head. */
const BLOCK = ' block'

const NOTIFY = { name: 'notify', text: 'SELECT pg_notify($1, $2)' }

/** Wakes every listener of a network; inside a transaction, when that commits. */
export async function notify(db: Queryable, network: Network): Promise<void> {
  await readRows(db, NOTIFY, [CHANNEL, network])
}

/** What wakes those listeners of a network that wait for a block: channel and payload. */
export const blockNotice = (network: Network): [string, string] => [CHANNEL, network + BLOCK]

/** Wakes those listeners of a network that wait for a block. */
export async function notifyBlock(db: Queryable, network: Network): Promise<void> {
  await readRows(db, NOTIFY, blockNotice(network))
}

/** What a payload says to a network's listener; an empty one stands for notifications that may have been lost. */
export function heardBy(network: Network, payload: string): 'notify' | 'block' | null {
  if (payload === '' || payload === network) return 'notify'
  return payload === network + BLOCK ? 'block' : null
}

/** Follows the network where one of its leads was given up. */
const LEAD = ' lead'

const FREED = { name: 'freed', text: 'SELECT pg_advisory_unlock($1, $2), pg_notify($3, $4)' }

/** Gives up a lead's lock that this session holds, and wakes those who stand by for it. */
export async function unlock(db: Queryable, network: Network, keys: LockKeys): Promise<void> {
  await readRows(db, FREED, [...keys, CHANNEL, network + LEAD])
}

/** Between two looks at the locks: with the time after which a frozen leader is ended, at most five seconds. */
export const LOOK_MS = 500

/** What the database's clock says, ms. */
export const CLOCK = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms`
/** Second keys of the advisory locks that anybody holds; a look takes none, so that nobody's attempt fails over it. */
const HELD = {
  name: 'held',
  text: `${CLOCK}, ARRAY(SELECT objid::int4 FROM pg_locks WHERE locktype = 'advisory' AND granted
    AND classid = ${LOCK_CLASS} AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS held`,
}

export interface ListenerOptions {
  url: string
  signal: AbortSignal
  /** Shows that it listens, or tries to. */
  loops: Loops
  onError: (error: Error) => void
}

/**
 * The connection on which a process listens to notifications, and looks which leads are free: one, whatever it stands
 * by for. It is renewed whenever it breaks or falls silent.
 */
export class Listener {
  readonly url: string
  /** Settles after the signal. */
  readonly done: Promise<void>
  readonly #options: ListenerOptions
  readonly #hearers = new Set<(payload: string) => void>()
  readonly #wake = createNotify()
  #looks: Look[] = []
  /** When a look last told who asked, ms of the monotonic clock. */
  #toldMs = Number.NEGATIVE_INFINITY

  constructor(options: ListenerOptions) {
    this.url = options.url
    this.#options = options
    this.done = this.#run()
  }

  /**
   * Calls the function with each notification, and with '' after each new connection, since those without one are
   * lost. @returns function that ends it
   */
  hear(hearer: (payload: string) => void): () => void {
    this.#hearers.add(hearer)
    return () => void this.#hearers.delete(hearer)
  }

  /**
   * The leads' locks that somebody holds, by their second key, as the next look finds them; null after the signal.
   * Who asks first, or again after a while, waits for no turn.
   * @throws as the connection fails; ClockError when this process's clock is off
   */
  held(): Promise<ReadonlySet<number> | null> {
    if (this.#options.signal.aborted) return Promise.resolve(null)
    if (performance.now() - this.#toldMs > LOOK_MS) this.#wake.notify()
    return new Promise((resolve, reject) => this.#looks.push({ resolve, reject }))
  }

  async #run(): Promise<void> {
    const { signal, loops, onError } = this.#options
    const loop = loops.start({ name: 'the listener' })
    while (!signal.aborted) {
      await this.#listen(loop).catch((error: Error) => {
        loop.failed(error)
        onError(error)
        for (const { reject } of this.#take()) reject(error)
      })
      await pause(LOOK_MS, signal)
    }
    loop.end()
    for (const { resolve } of this.#take()) resolve(null)
  }

  async #listen(loop: Loop): Promise<void> {
    const { signal, onError } = this.#options
    const session = await Session.open(this.url, 'clusterd listener')
    session.client.on('error', onError)
    session.client.on('notification', ({ payload = '' }) => this.#hear(payload))
    void session.lost.then(this.#wake.notify)
    try {
      await session.endWhenFrozen()
      await session.within(() => session.client.query(`LISTEN ${CHANNEL}`))
      this.#hear('')
      while (!signal.aborted) {
        await session.within(() => this.#look(session.client))
        loop.succeeded()
        await this.#wake.wait(LOOK_MS, signal)
      }
    } finally {
      await session.close()
    }
  }

  /** Answers those who ask for the locks with what one statement finds. */
  async #look(client: Queryable): Promise<void> {
    const isAsked = this.#looks.length > 0
    const [found] = await readRows<{ nowMs: number; held?: number[] }>(client, isAsked ? HELD : CLOCK)
    if (!found?.held) return
    assertClock(found.nowMs)
    this.#toldMs = performance.now()
    const held = new Set(found.held)
    for (const { resolve } of this.#take()) resolve(held)
  }

  #take(): Look[] {
    return this.#looks.splice(0)
  }

  #hear(payload: string): void {
    for (const hearer of this.#hearers) hearer(payload)
    if (payload.endsWith(LEAD)) this.#wake.notify()
  }
}

interface Look {
  resolve(held: ReadonlySet<number> | null): void
  reject(error: Error): void
}
