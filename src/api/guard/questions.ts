import type pg from 'pg'
import { queryingBy } from '../../db/pg/pool.js'
import { FairQueue, type QueueClient } from '../../ops/fairQueue.js'
import { nextTurn } from '../../ops/turns.js'

/** Questions of a kind to a chain at once: as many as its nodes are asked (STRANGERS in src/chains/rpc/nodes.ts). */
const QUESTIONS = { atOnce: 32, waiting: 500 }

/** Functions of ports that ask a chain's nodes. */
const ASKING: ReadonlySet<PropertyKey> = new Set([
  'quote',
  'transaction',
  'replacement',
  'tokenBalance',
  'recentBalance',
  'communityPayment',
  'isToken',
  'isValidSignature',
  'owed',
  'withdrawal',
])

type Ask = (...of: unknown[]) => unknown

/** Lines of clients that wait to ask chains. Each kind of question has a queue of its own, as it has its own nodes. */
export class Questions {
  readonly #queues = new WeakMap<object, Map<PropertyKey, FairQueue>>()

  /** A port as one client asks it, whose questions are dropped once it has left. */
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

/** Statements of dear requests at once: the other connections, and processors of the database, are for look-ups. */
const STATEMENTS = { atOnce: 3 }

/** Line of clients that wait to ask the database for more than a look-up. */
export class Statements {
  readonly #queue = new FairQueue(STATEMENTS)

  /**
   * A pool as one client asks it: a statement waits in the line, and the work with its rows for the client's turn. What
   * is written once the answer is given is written too.
   */
  of(pool: pg.Pool, { address }: QueueClient): pg.Pool {
    return queryingBy(pool, async (config) => {
      const found = await this.#queue.run({ address }, () => pool.query(config))
      await nextTurn({ address })
      return found
    })
  }
}
