import type { Network } from '../../registry/primitives/network.js'
import type {
  WebhookFailure as StoredFailure,
  Webhook as StoredWebhook,
} from '../generated/client.js'
import { LONGEST_BACKOFF_MS } from '../outbox/due.js'
import { type DecodedRow, type Queryable, query, readRows } from '../pg/rows.js'
import { assertClocksAgree, MAX_CLOCK_SKEW_MS, NOW_MS_SQL } from '../pg/unavailable.js'

/** Number of failed deliveries that are kept for each webhook. */
export const MAX_KEPT_FAILURES = 100

/** A URL to which a network's public feed is sent, as the operator configured it. */
export type Webhook = Omit<DecodedRow<StoredWebhook>, 'leaseMs'>

/**
 * A webhook that this process handles until the lease ends (`leaseMs`, Unix ms), with the feed's generation
 * (`headGeneration`) and the number of its newest event (`headSeen`).
 */
export type LeasedWebhook = DecodedRow<StoredWebhook> & { headGeneration: number; headSeen: number }

const WEBHOOK_COLUMNS = `w.id, w.network, w.url, w.key, w."from", w.cursor, w.generation, w.seen, w.delivered, w.parked, w.failures,
  w.failing_ms, w.next_ms, w.created_ms`

export const listWebhooks = (db: Queryable): Promise<Webhook[]> =>
  readRows(db, `SELECT ${WEBHOOK_COLUMNS} FROM webhooks w ORDER BY w.id`)

/** Adds a webhook. Its first message begins at the feed's first event, or after `cursor`. @returns the webhook's id */
export async function addWebhook(
  db: Queryable,
  webhook: Pick<Webhook, 'network' | 'url' | 'key' | 'from' | 'cursor' | 'createdMs'>,
): Promise<number> {
  const { network, url, key, from, cursor, createdMs } = webhook
  const [row] = await query<{ id: number }>(
    db,
    network,
    `INSERT INTO webhooks (network, url, key, "from", cursor, seen, delivered, failures, next_ms, lease_ms, created_ms)
     VALUES ($1, $2, $3, $4, $5, 0, 0, 0, 0, 0, $6) RETURNING id`,
    [url, key, from, cursor, createdMs],
  )
  return row!.id
}

/** @returns false where no webhook has this id */
export async function removeWebhook(db: Queryable, id: number): Promise<boolean> {
  return (await readRows(db, 'DELETE FROM webhooks WHERE id = $1 RETURNING id', [id])).length > 0
}

/**
 * Leases webhooks that have something to deliver. One process at a time handles a webhook, and its lease ends by time
 * if the process dies. The webhook whose last lease is oldest comes first, so webhooks that always have more to deliver
 * do not delay others. A webhook that was released has the end of its last lease as a negative number: it can be leased
 * again immediately, whatever the clock. A lease that ends too far ahead was taken by a wrong clock: it does not count,
 * and its webhook comes first. `atMost` is the maximum number of webhooks, `leaseMs` the end of the leases, Unix ms.
 * @throws ClockError when this process's clock is wrong: the times that it stores would delay deliveries of other
 * processes too
 */
export async function leaseWebhooks(
  db: Queryable,
  { atMost, nowMs, leaseMs }: { atMost: number; nowMs: number; leaseMs: number },
): Promise<LeasedWebhook[]> {
  const rows = await readRows<(LeasedWebhook | { id: null }) & { clockMs: number }>(
    db,
    `WITH clock AS (SELECT ${NOW_MS_SQL} AS clock_ms),
       leased AS (UPDATE webhooks w SET lease_ms = $3 FROM journal_heads h
         WHERE h.network = w.network AND w.id IN (
           SELECT d.id FROM webhooks d JOIN journal_heads n ON n.network = d.network
           WHERE d.parked IS NULL AND (d.next_ms <= $2 OR d.next_ms > $2::int8 + ${LONGEST_BACKOFF_MS})
             AND (d.lease_ms <= $2 OR d.lease_ms > $3::int8 + ${2 * MAX_CLOCK_SKEW_MS})
             AND (d.seen < n.public_seq OR d.generation <> n.feed_generation)
             AND (SELECT abs(clock_ms - $2::int8) FROM clock) <= ${MAX_CLOCK_SKEW_MS}
           ORDER BY abs(d.lease_ms) <= $3::int8 + ${2 * MAX_CLOCK_SKEW_MS}, abs(d.lease_ms) LIMIT $1 FOR UPDATE OF d SKIP LOCKED)
         RETURNING ${WEBHOOK_COLUMNS}, w.lease_ms, h.feed_generation AS head_generation, h.public_seq AS head_seen)
     SELECT clock_ms, leased.* FROM clock LEFT JOIN leased ON true`,
    [atMost, nowMs, leaseMs],
  )
  assertClocksAgree(rows[0]!.clockMs)
  return rows.flatMap(({ clockMs: _, ...row }) => (row.id === null ? [] : [row]))
}

/** State of a webhook after a delivery. `saveWebhook` stores it and releases the webhook. */
export type WebhookChange = Pick<
  Webhook,
  'cursor' | 'generation' | 'seen' | 'delivered' | 'parked' | 'failures' | 'failingMs' | 'nextMs'
>

/** @returns false where another process handles the webhook now, or the webhook was removed */
export async function saveWebhook(
  db: Queryable,
  { id, leaseMs }: Pick<LeasedWebhook, 'id' | 'leaseMs'>,
  after: WebhookChange,
): Promise<boolean> {
  const { cursor, generation, seen, delivered, parked, failures, failingMs, nextMs } = after
  const rows = await readRows(
    db,
    `UPDATE webhooks SET cursor = $3, generation = $4, seen = $5, delivered = $6, parked = $7, failures = $8,
       failing_ms = $9, next_ms = $10, lease_ms = -lease_ms WHERE id = $1 AND lease_ms = $2 RETURNING id`,
    [id, leaseMs, cursor, generation, seen, delivered, parked, failures, failingMs, nextMs],
  )
  return rows.length > 0
}

/**
 * Continues a webhook after `cursor` (null: from the feed's beginning), or from its present position if there is no
 * `cursor`. Ends parking and back-off.
 * @returns false where no webhook has this id
 */
export async function replayWebhook(
  db: Queryable,
  id: number,
  cursor?: string | null,
): Promise<boolean> {
  const from = cursor === undefined ? '' : 'cursor = $2, generation = NULL, seen = 0,'
  const rows = await readRows(
    db,
    `UPDATE webhooks SET ${from} parked = NULL, failures = 0, failing_ms = NULL, next_ms = 0, lease_ms = 0
     WHERE id = $1 RETURNING id`,
    cursor === undefined ? [id] : [id, cursor],
  )
  return rows.length > 0
}

export type WebhookFailure = DecodedRow<StoredFailure>

/** Stores a failed delivery, and deletes all but the newest `MAX_KEPT_FAILURES` of its webhook. */
export async function addWebhookFailure(db: Queryable, failure: WebhookFailure): Promise<void> {
  const { webhook, atMs, message, cursor, reason } = failure
  await readRows(
    db,
    `WITH added AS (
       INSERT INTO webhook_failures (webhook, at_ms, message, cursor, reason)
       SELECT id, $2, $3, $4, $5 FROM webhooks WHERE id = $1 ON CONFLICT DO NOTHING)
     DELETE FROM webhook_failures WHERE webhook = $1 AND at_ms < (
       SELECT at_ms FROM webhook_failures WHERE webhook = $1 ORDER BY at_ms DESC OFFSET ${MAX_KEPT_FAILURES - 2} LIMIT 1)`,
    [webhook, atMs, message, cursor, reason],
  )
}

/** Failures of one webhook or of all, newest first, at most `MAX_KEPT_FAILURES`. */
export const listWebhookFailures = (db: Queryable, id: number | null): Promise<WebhookFailure[]> =>
  readRows(
    db,
    `SELECT webhook, at_ms, message, cursor, reason FROM webhook_failures WHERE $1::int IS NULL OR webhook = $1
     ORDER BY at_ms DESC, webhook LIMIT ${MAX_KEPT_FAILURES}`,
    [id],
  )

/**
 * Number of webhooks by network and state. `oldestMs` is the longest time for which a webhook that is not parked has
 * been failing, ms, 0 if none is failing. Networks without webhooks are missing.
 */
export const countWebhooks = (db: Queryable, nowMs: number) =>
  readRows<{ network: Network; active: number; failing: number; parked: number; oldestMs: number }>(
    db,
    `SELECT network, count(*) FILTER (WHERE parked IS NULL AND failures = 0)::int AS active,
       count(*) FILTER (WHERE parked IS NULL AND failures > 0)::int AS failing,
       count(*) FILTER (WHERE parked IS NOT NULL)::int AS parked,
       coalesce(max($1 - failing_ms) FILTER (WHERE parked IS NULL), 0)::int8 AS oldest_ms FROM webhooks GROUP BY network`,
    [nowMs],
  )
