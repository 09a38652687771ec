import type { LeasedWebhook, WebhookChange } from '../../db/webhooks/webhooks.js'
import { BACKOFF_PAUSES_MS, backoffPauseMs } from '../../ops/waiting.js'
import type { Network } from '../../registry/primitives/network.js'
import { postWebhookMessage } from './post.js'
import { webhookSignatureHeaders } from './signature.js'
import { TargetRefusedError } from './target.js'

const MAX_EVENTS_PER_MESSAGE = 100
/** Time of continuous failure after which a webhook is parked, ms. */
const PARK_AFTER_MS = 5 * 86_400_000
/** Failure of a receiver that wants no more messages: status 410, Gone (RFC 9110, 15.5.11). */
const GONE_REASON = 'HTTP 410'

/** Types of messages to webhooks. docs/use/webhooks.md shows a message of each type. */
export const WEBHOOK_MESSAGE_TYPES = ['events', 'feed_restarted'] as const

/** Body of a message to a webhook. @param fields JSON of the fields that only messages of this type have */
const messageBody = (
  type: (typeof WEBHOOK_MESSAGE_TYPES)[number],
  { id, network }: Pick<LeasedWebhook, 'id' | 'network'>,
  fields: string,
): string => `{"type":"${type}","webhook":${id},"network":"${network}",${fields}}`

/** A page of a network's feed, as `GET /v1/events` returns it. */
export interface FeedPage {
  generation: number
  /** JSON of each event. */
  items: readonly string[]
  /** Number of the page's last event; null for an empty page. */
  last: number | null
  /** True if more events follow the page. */
  hasMore: boolean
  /** Page token with which the feed continues after this page. */
  resume: string
}

export interface FeedQuery {
  /** Page token (`resume`) of an earlier page; null for the beginning of the feed. */
  cursor: string | null
  /** Stored address of the actor whose events are read; null for all events. */
  from: Buffer | null
  limit: number
}

/** Reads a page of a network's feed; null where the feed has restarted since the page token was issued. */
export type ReadFeedPage = (network: Network, query: FeedQuery) => Promise<FeedPage | null>

export interface WebhookDeliveryDependencies {
  readFeed: ReadFeedPage
  allowsPrivate: boolean
  nowMs(): number
  signal: AbortSignal
}

/**
 * Outcome of a delivery: the webhook's new state, and if the delivery failed, the message's id and the reason. Null
 * where the signal ended the delivery.
 */
export type DeliveryOutcome = {
  after: WebhookChange
  failure?: { message: string; reason: string }
} | null

/**
 * Delivers the next message of a webhook, at least once and in order: a message is sent only after the receiver has
 * accepted the previous message. A restart of the feed is a separate message, after which the feed is sent from its
 * beginning.
 * @throws errors of `readFeed` where the database is unavailable; the webhook's lease then expires
 */
export async function deliverNextMessage(
  hook: LeasedWebhook,
  ports: WebhookDeliveryDependencies,
): Promise<DeliveryOutcome> {
  const page = await ports.readFeed(hook.network, {
    cursor: hook.cursor,
    from: hook.from,
    limit: MAX_EVENTS_PER_MESSAGE,
  })
  const { id, headGeneration, headSeen } = hook
  const healthy = { parked: null, failures: 0, failingMs: null, nextMs: 0 }
  if (!page) {
    const body = messageBody('feed_restarted', hook, `"generation":${headGeneration}`)
    const after = {
      ...healthy,
      cursor: null,
      generation: headGeneration,
      seen: 0,
      delivered: hook.delivered,
    }
    return sendMessage(hook, `${id}-${headGeneration}-restarted`, body, after, ports)
  }
  const { generation, items, last, hasMore, resume } = page
  // `headSeen` was read before the page. Events that came since cause another delivery.
  const seen = !hasMore && generation === headGeneration ? headSeen : 0
  const after = {
    ...healthy,
    cursor: resume,
    generation,
    seen,
    delivered: hook.delivered + items.length,
  }
  if (items.length === 0) return { after }
  const body = messageBody('events', hook, `"items":[${items.join(',')}],"resume":"${resume}"`)
  return sendMessage(hook, `${id}-${generation}-${last}-${items.length}`, body, after, ports)
}

/** Sends one message. @param after state of the webhook if the receiver accepts the message */
async function sendMessage(
  hook: LeasedWebhook,
  messageId: string,
  body: string,
  after: WebhookChange,
  { allowsPrivate, nowMs, signal }: WebhookDeliveryDependencies,
): Promise<DeliveryOutcome> {
  const headers = webhookSignatureHeaders(hook.key, messageId, nowMs(), body)
  let reason: string
  try {
    const status = await postWebhookMessage({ url: hook.url, headers, body, allowsPrivate, signal })
    if (status >= 200 && status < 300) return { after }
    reason = `HTTP ${status}`
  } catch (error) {
    if (signal.aborted) return null
    const { code, message } = error as NodeJS.ErrnoException
    reason = error instanceof TargetRefusedError ? message : (code ?? message)
  }
  const { cursor, generation, seen, delivered } = hook
  const failures = hook.failures + 1
  const failingMs = hook.failingMs ?? nowMs()
  const isParked = reason === GONE_REASON || nowMs() - failingMs > PARK_AFTER_MS
  const nextMs = nowMs() + backoffPauseMs(failures, BACKOFF_PAUSES_MS.webhook)
  const failed = { parked: isParked ? reason : null, failures, failingMs, nextMs }
  return {
    after: { cursor, generation, seen, delivered, ...failed },
    failure: { message: messageId, reason },
  }
}
