import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { readVersion, type Version } from '../../db/journal/head.js'
import type { Network } from '../../registry/primitives/network.js'
import { type Answer, type Message, messageOf } from '../http/answer.js'
import { sharing } from '../http/batches.js'
import type { Context } from '../http/context.js'

const MAX_ANSWERS = 8_192
/** Characters of a request, and bytes of its answer: longer ones are not kept. */
const MAX_KEY_CHARS = 256
const MAX_BYTES = 1_024
/** Bound on what anything that goes past the journal's head could keep wrong. */
const KEPT_MS = 60_000

/** The version, as one read told all who had asked before it: an object of its own. */
export type Reading = Version

/** What is asked: a key that says all an answer depends on beside the journal, null where that is much. */
export interface Question {
  key: string | null
  network: Network
}

/** An answer and how it is sent. */
export interface Kept {
  answer: Answer
  message: Message
  /** What asking for it costs, in look-ups. */
  cost: number
}

interface Entry {
  /** The reading before the answer was made; null for one that was asked for once. */
  reading: Reading | null
  /** The answer while it is made. */
  making: Promise<Kept> | null
  kept: Kept | null
}

/** Answers of one database that the journal decides, some of them with the unconfirmed bids. */
export interface Memory {
  /** The version now, for a question that was asked before; null at once for another, which would wait in vain. */
  read(question: Question): Promise<Reading> | null
  /**
   * The answer that is kept, where it is of this version and holds while the network is not caught up; or the one that
   * is made for others of this reading, kept or not.
   */
  recall(question: Question, reading: Reading): Kept | Promise<Kept> | null
  /** Makes an answer, and keeps it where the journal decides it. */
  make(question: Question & { cost: number }, reading: Reading | null, make: () => Promise<Answer>): Promise<Answer>
}

/** The key of a request without a session. @param body undefined where its route has none */
export function keyOf({ method, url = '', headers }: IncomingMessage, body: Buffer | undefined): string | null {
  if (url.length + (body?.length ?? 0) > MAX_KEY_CHARS || headers['content-encoding'] !== undefined) return null
  return body === undefined ? `${method} ${url}` : `${method} ${url} ${body.toString('latin1')}`
}

/**
 * Creates the memory of a database. Each answer is compared with the version, which is read for all requests
 * of a moment together, so that none is older than the last commit before its request; what is made for all who
 * ask the same under one reading begins after it, and so after they asked.
 */
export function createMemory({ pool, freshness }: Pick<Context, 'pool' | 'freshness'>): Memory {
  const entries = new LRUCache<string, Entry>({ max: MAX_ANSWERS, ttl: KEPT_MS })
  const readerOf = (network: Network) => sharing(() => readVersion(pool, network))
  const readers = { mainnet: readerOf('mainnet'), testnet: readerOf('testnet') }
  return {
    read: ({ key, network }) => (key !== null && entries.has(key) ? readers[network]() : null),
    recall({ key, network }, wanted) {
      const { making, kept, reading } = (key !== null && entries.get(key)) || {}
      if (making && reading === wanted) return making
      if (!kept || reading?.version !== wanted.version) return null
      if (kept.answer.isOfFacts && reading.factsVersion !== wanted.factsVersion) return null
      if (!kept.answer.needsCurrent) return kept
      const found = freshness(network)
      return found instanceof Promise || found.isCatchingUp ? null : kept
    },
    async make({ key, cost }, reading, make) {
      if (key === null) return make()
      const making = make().then((answer) => ({ answer, message: messageOf(answer), cost }))
      const entry: Entry = { reading, making, kept: null }
      entries.set(key, entry)
      const keep = (made: Kept | null) => {
        entry.making = null
        if (made?.answer.isOfJournal && made.message.bytes <= MAX_BYTES) entry.kept = reading && made
        else if (entries.get(key) === entry) entries.delete(key)
      }
      making.then(keep, () => keep(null))
      return (await making).answer
    },
  }
}
