import type pg from 'pg'
import { poolWithQuery } from '../../db/pg/pool.js'
import { FairQueue, type QueueClient } from '../../ops/fairQueue.js'
import { waitForEventLoopTurn } from '../../ops/turns.js'

/**
 * Maximum calls of one port method to a chain at once, as many as its nodes accept (`STRANGERS` in
 * src/chains/rpc/shares.ts), and calls that may wait.
 */
const QUESTIONS = { atOnce: 32, waiting: 500 }

/** Methods of ports that call a chain's nodes. */
const ASKING: ReadonlySet<PropertyKey> = new Set([
  'quote',
  'transaction',
  'replacement',
  'tokenBalance',
  'recentBalance',
  'communityPayment',
  'isToken',
  'isValidSignature',
  'primaryName',
  'owed',
  'withdrawal',
])

type Ask = (...of: unknown[]) => unknown

/**
 * Queues of clients that wait to call chains. Each method of a port has its own queue, because its calls have their own
 * share of the nodes' capacity.
 */
export class ChainCallQueues {
  readonly #queues = new WeakMap<object, Map<PropertyKey, FairQueue>>()

  /** A port whose calls wait in the queue of one client. Waiting calls are dropped when the client disconnects. */
  of<Port extends object>(port: Port, asker: QueueClient): Port {
    return new Proxy(port, {
      get: (target, key) => {
        const value: unknown = Reflect.get(target, key)
        if (key === 'refunds') return this.of(value as object, asker)
        if (!ASKING.has(key) || typeof value !== 'function') return value
        const queue = this.#queueOf(target, key)
        return (...of: unknown[]) => queue.run(asker, () => (value as Ask).apply(target, of))
      },
    })
  }

  #queueOf(port: object, key: PropertyKey): FairQueue {
    const queues = this.#queues.get(port) ?? new Map<PropertyKey, FairQueue>()
    this.#queues.set(port, queues)
    const queue = queues.get(key) ?? new FairQueue(QUESTIONS)
    queues.set(key, queue)
    return queue
  }
}

/**
 * Maximum database statements of expensive requests at once. The other connections and the database's processors are
 * reserved for look-ups.
 */
const STATEMENTS = { atOnce: 3 }

/** Queue of clients whose requests ask the database for more than a look-up. */
export class StatementQueue {
  readonly #queue = new FairQueue(STATEMENTS)

  /**
   * A pool whose statements wait in the queue of one client, and whose rows are processed in the client's turn. Waiting
   * statements are kept when the client disconnects, so a write still runs after the request was answered.
   */
  of(pool: pg.Pool, { address }: QueueClient): pg.Pool {
    return poolWithQuery(pool, async (config) => {
      const found = await this.#queue.run({ address }, () => pool.query(config))
      await waitForEventLoopTurn({ address })
      return found
    })
  }
}
