import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Network } from '../../registry/primitives/network.js'
import type { Answer, Message } from '../http/answer.js'
import type { Batches } from '../http/batches.js'
import type { Kept } from '../http/route.js'

const MAX_ANSWERS = 8_192
/** Characters of a request, and bytes of its answer: longer ones are not kept. */
const MAX_KEY_CHARS = 256
const MAX_BYTES = 1_024
/** Bound on what anything that goes past the journal's head could keep wrong. One timer a second. */
const KEPT_MS = { ttl: 60_000, ttlResolution: 1_000 }

/** An answer and how it is sent. */
export interface Made {
  answer: Answer
  message: Message
  /** Look-ups that asking for it costs. */
  cost: number
}

/** Null for a long request. @param body undefined without one */
export function keyOf(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer | undefined,
): string | null {
  if (url.length + (body?.length ?? 0) > MAX_KEY_CHARS || headers['content-encoding'] !== undefined)
    return null
  return body === undefined ? `${method} ${url}` : `${method} ${url} ${body.toString('latin1')}`
}

/**
 * Creates the memory of answers, each with the version of what decided it. The version is read for all requests of a
 * moment together and after they asked, so no answer is older than the last commit before its request.
 */
export function createMemory(batches: Readonly<Record<Network, Batches>>) {
  const entries = new LRUCache<string, Made & { version: string | null }>({
    max: MAX_ANSWERS,
    ...KEPT_MS,
  })
  return {
    /** The version now; null for a key that nobody has asked for, so a first answer waits for no version. */
    async version(key: string, network: Network, by: Kept): Promise<string | null> {
      if (!entries.has(key)) return null
      const { version, factsVersion } = await batches[network].version()
      return by === 'journal' ? version : `${version} ${factsVersion}`
    },
    /** The answer that was made under a version. */
    get(key: string, version: string): Made | null {
      const entry = entries.get(key)
      return entry?.version === version ? entry : null
    },
    /** Keeps an answer that was made after its version was read. */
    set(key: string, version: string | null, made: Made): void {
      if (made.answer.isPassing || made.message.bytes > MAX_BYTES) entries.delete(key)
      else entries.set(key, { ...made, version })
    },
  }
}
