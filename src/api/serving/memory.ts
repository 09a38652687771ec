import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import { readVersion } from '../../db/journal/head.js'
import type { Network } from '../../registry/primitives/network.js'
import { type Answer, JSON_TYPE, jsonOf } from '../http/answer.js'
import { sharing } from '../http/batches.js'
import type { Context } from '../http/context.js'

const MAX_ANSWERS = 8_192
/** Characters of a request and of its answer: longer ones are not kept. */
const MAX_KEY_CHARS = 256
const MAX_TEXT_CHARS = 1_024
/** Bound on what anything that goes past the journal's head could keep wrong. */
const KEPT_MS = 60_000

/** Answer and the journal's version before it was read; null for one that was asked for once. */
interface Kept {
  version: string | null
  answer: Answer | null
}

/** What is asked: a key that says all an answer depends on beside the journal, null where that is much. */
interface Question {
  key: string | null
  network: Network
}

/** Answers a question from memory, else by `make`. */
export type Memory = (question: Question, make: () => Promise<Answer>) => Promise<Answer>

/** The key of a request without a session. @param body as it was parsed */
export function keyOf({ method, url = '', headers }: IncomingMessage, body: unknown): string | null {
  const bodyChars = body === undefined ? 0 : Number(headers['content-length'] ?? MAX_KEY_CHARS)
  if (url.length + bodyChars > MAX_KEY_CHARS) return null
  return body === undefined ? `${method} ${url}` : `${method} ${url} ${JSON.stringify(body)}`
}

/**
 * Creates the memory of answers that depend on the journal alone. Each is compared with the journal's version, which is
 * read for all requests of a moment together, so that none is older than the last commit before its request.
 */
export function createMemory({ pool, freshness }: Pick<Context, 'pool' | 'freshness'>): Memory {
  const kept = new LRUCache<string, Kept>({ max: MAX_ANSWERS, ttl: KEPT_MS })
  const versionOf = {
    mainnet: sharing(() => readVersion(pool, 'mainnet')),
    testnet: sharing(() => readVersion(pool, 'testnet')),
  }
  return async ({ key, network }, make) => {
    const known = key === null ? undefined : kept.get(key)
    // what is asked for once would wait for the version in vain
    const version = known ? await versionOf[network]() : null
    if (known?.answer && known.version === version) {
      if (!known.answer.needsCurrent || !(await freshness(network)).isCatchingUp) return known.answer
    }
    const answer = await make()
    if (key === null || !answer.isOfJournal) return answer
    const text = answer.content?.text ?? jsonOf(answer.body)
    if (text.length > MAX_TEXT_CHARS) return answer
    const { body: _, ...rest } = answer
    kept.set(key, { version, answer: version === null ? null : { ...rest, content: { type: JSON_TYPE, text } } })
    return answer
  }
}
