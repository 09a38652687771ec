import type { LeasedWebhook, WebhookChange } from '../../db/outbox/webhooks.js'
import type { Network } from '../../registry/primitives/network.js'
import { signedHeaders } from './message.js'
import { type PostOptions, post } from './post.js'
import { TargetRefusedError } from './target.js'

/** Events of a message. */
const EVENTS_AT_ONCE = 100
/** Pauses after a failure, seconds, by the failures in a row before it; the last one stays. */
const PAUSES_S = [2, 10, 60, 300, 1_800, 3_600]
/** Time of failures in a row after which nothing more is sent, ms. */
const PARK_AFTER_MS = 5 * 86_400_000
/** The receiver wants no more (RFC 9110, 15.5.11). */
const GONE = 410

/** A page of a network's feed, as `GET /v1/events` gives it. */
export interface FeedPage {
  generation: number
  /** JSON of each event. */
  items: readonly string[]
  /** Number of the last of them; null without one. */
  last: number | null
  /** Whether there is more. */
  hasMore: boolean
  /** Token that goes on after the page. */
  resume: string
}

/** What is asked of the feed. */
export interface FeedQuery {
  /** Token of an earlier page; null for the beginning. */
  cursor: string | null
  /** Stored address of the actor; null for all. */
  from: Buffer | null
  limit: number
}

/** Reads the feed. @returns null where it has begun anew since the cursor was given out */
export type ReadFeed = (network: Network, query: FeedQuery) => Promise<FeedPage | null>

export interface DeliverPorts {
  readFeed: ReadFeed
  allowsPrivate: boolean
  nowMs(): number
  signal: AbortSignal
}

export interface Failed {
  outcome: 'failed' | 'parked'
  after: WebhookChange
  /** Id of the message. */
  message: string
  reason: string
}

/** Outcome of a delivery with what is to be stored; `stopped`: the signal ended it, and nothing is known. */
export type Delivered = { outcome: 'delivered' | 'nothing'; after: WebhookChange } | Failed | { outcome: 'stopped' }

/**
 * Delivers the next message of a webhook: at least once and in order, since the next goes out only once this one was
 * taken. A feed that has begun anew is told by a message of its own, and then sent from its beginning.
 * @throws what the feed throws: the database is away, and the lease ends by itself
 */
export async function deliver(hook: LeasedWebhook, ports: DeliverPorts): Promise<Delivered> {
  const page = await ports.readFeed(hook.network, { cursor: hook.cursor, from: hook.from, limit: EVENTS_AT_ONCE })
  const { id, network, headGeneration, headSeen } = hook
  const well = { parked: null, failures: 0, failingMs: null, nextMs: 0 }
  if (!page) {
    const body = JSON.stringify({ type: 'feed_restarted', webhook: id, network, generation: headGeneration })
    const after = { ...well, cursor: null, generation: headGeneration, seen: 0, delivered: hook.delivered }
    return send(hook, `${id}-${headGeneration}-restarted`, body, after, ports)
  }
  const { generation, items, last, hasMore, resume } = page
  // the head was read before the page, which may hold more than it counts
  const seen = hasMore ? 0 : generation === headGeneration ? headSeen : 0
  const after = { ...well, cursor: resume, generation, seen, delivered: hook.delivered + items.length }
  if (items.length === 0) return { outcome: 'nothing', after }
  const body = `{"type":"events","webhook":${id},"network":"${network}","items":[${items.join(',')}],"resume":"${resume}"}`
  return send(hook, `${id}-${generation}-${last}-${items.length}`, body, after, ports)
}

async function send(
  hook: LeasedWebhook,
  message: string,
  body: string,
  after: WebhookChange,
  { allowsPrivate, nowMs, signal }: DeliverPorts,
): Promise<Delivered> {
  const headers = signedHeaders(hook.key, message, nowMs(), body)
  const posted = await attempt({ url: hook.url, headers, body, allowsPrivate, signal })
  if (posted === 'taken') return { outcome: 'delivered', after }
  if (posted === 'stopped') return { outcome: 'stopped' }
  const { reason, isFinal } = posted
  const failingMs = hook.failingMs ?? nowMs()
  const isParked = isFinal || nowMs() - failingMs > PARK_AFTER_MS
  const pauseMs = PAUSES_S[Math.min(hook.failures, PAUSES_S.length - 1)]! * 1_000
  const failed = { parked: isParked ? reason : null, failures: hook.failures + 1, failingMs, nextMs: nowMs() + pauseMs }
  const { cursor, generation, seen, delivered } = hook
  return {
    ...{ outcome: isParked ? 'parked' : 'failed', message, reason },
    after: { cursor, generation, seen, delivered, ...failed },
  }
}

async function attempt(options: PostOptions): Promise<'taken' | 'stopped' | { reason: string; isFinal: boolean }> {
  try {
    const status = await post(options)
    return status >= 200 && status < 300 ? 'taken' : { reason: `HTTP ${status}`, isFinal: status === GONE }
  } catch (error) {
    if (options.signal.aborted) return 'stopped'
    const { code, message } = error as NodeJS.ErrnoException
    // a name may point elsewhere tomorrow
    return { reason: error instanceof TargetRefusedError ? message : (code ?? message), isFinal: false }
  }
}
