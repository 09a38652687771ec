import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { encryptPageToken, FEED_BEGINNING } from '../../api/feed/cursor.js'
import { isoTimestamp } from '../../api/http/timestamps.js'
import { readEnvironment } from '../../config/index.js'
import { readPageTokenKey } from '../../db/deployment/deployment.js'
import { readTransparencyLogState } from '../../db/feed/transparencyLog.js'
import {
  addWebhook,
  listWebhookFailures,
  listWebhooks,
  removeWebhook,
  replayWebhook,
  type Webhook,
} from '../../db/webhooks/webhooks.js'
import { WEBHOOK_KEY_BYTES, webhookKeyText } from '../../push/webhooks/signature.js'
import { parseWebhookUrl } from '../../push/webhooks/target.js'
import { decodeWallet, parseWalletOrNull } from '../../registry/primitives/address.js'
import type { Network } from '../../registry/primitives/network.js'
import { withDatabasePool } from '../database.js'
import { durationText, printJson, printList } from '../output.js'

function webhookState({ parked, failingMs }: Webhook): 'parked' | 'failing' | 'active' {
  if (parked !== null) return 'parked'
  return failingMs !== null ? 'failing' : 'active'
}

const describeWebhook = (hook: Webhook) => {
  const { key: _, from, failingMs, createdMs, parked, ...webhook } = hook
  return {
    ...webhook,
    state: webhookState(hook),
    parked,
    from: from && decodeWallet(from).text,
    failingSince: failingMs && isoTimestamp(failingMs),
    createdAt: isoTimestamp(createdMs),
  }
}

/** `clusterd webhooks list`: prints the webhooks. */
export async function printWebhooks({ json }: { json?: boolean }): Promise<void> {
  printList(await withDatabasePool(listWebhooks), {
    json,
    none: 'There is no webhook.',
    describe: describeWebhook,
    row: ({ id, network, parked, failingMs, delivered, url }) => {
      const failing =
        failingMs === null ? 'active' : `failing for ${durationText(Date.now() - failingMs)}`
      return { id, network, state: parked === null ? failing : `parked: ${parked}`, delivered, url }
    },
  })
}

/** `clusterd webhooks add`: adds a webhook. @throws Error with one sentence for an invalid URL, address or time */
export async function createWebhook(
  url: string,
  {
    testnet,
    from,
    since,
    json,
  }: { testnet?: boolean; from?: string; since?: string; json?: boolean },
): Promise<void> {
  const network: Network = testnet ? 'testnet' : 'mainnet'
  parseWebhookUrl(url, readEnvironment().webhooksPrivate)
  const actor = from === undefined ? null : parseWalletOrNull(from)
  if (from !== undefined && !actor) throw new Error('--from is no address.')
  const key = randomBytes(WEBHOOK_KEY_BYTES)
  const id = await withDatabasePool(async (pool) => {
    const place = { network, from: actor?.bytes ?? null }
    const cursor = await feedCursorAt(pool, place, since ?? new Date().toISOString())
    return addWebhook(pool, { ...place, url, key, cursor, createdMs: Date.now() })
  })
  if (json) return printJson({ id, network, url, key: webhookKeyText(key) })
  console.log(
    `${webhookKeyText(key)}\nThe key of its signatures is shown this once; the id of the webhook is ${id}.`,
  )
}

/**
 * Page token to read the feed from a time on; null for the beginning of the feed.
 * @param since ISO 8601, or `start`
 * @throws Error with one sentence for another text
 */
async function feedCursorAt(
  pool: pg.Pool,
  { network, from }: { network: Network; from: Buffer | null },
  since: string,
): Promise<string | null> {
  if (since === 'start') return null
  const sinceMs = Date.parse(since)
  if (!(sinceMs >= 0)) throw new Error('--since is no time (ISO 8601), nor "start".')
  const { generation } = await readTransparencyLogState(pool, network)
  return encryptPageToken(await readPageTokenKey(pool), {
    ...FEED_BEGINNING,
    network,
    generation,
    from,
    sinceMs,
  })
}

/** `clusterd webhooks remove`: removes a webhook. @throws Error with one sentence where there is no such webhook */
export async function deleteWebhook(id: string): Promise<void> {
  if (!(await withDatabasePool((pool) => removeWebhook(pool, parseWebhookId(id)))))
    throw unknownWebhookError(id)
  console.log('Removed: a message that is under way may still arrive.')
}

/** `clusterd webhooks failures [id]`: prints failed deliveries, of all webhooks or of the webhook `id`. */
export async function printFailedDeliveries(
  id: string | undefined,
  { json }: { json?: boolean },
): Promise<void> {
  const deliveries = await withDatabasePool((pool) =>
    listWebhookFailures(pool, id === undefined ? null : parseWebhookId(id)),
  )
  printList(deliveries, {
    json,
    none: 'No delivery has failed.',
    describe: (failure) => failure,
    row: ({ webhook, atMs, message, reason }) => ({
      webhook,
      when: isoTimestamp(atMs),
      message,
      reason,
    }),
  })
}

/**
 * `clusterd webhooks replay`: resumes a webhook that failed or is parked. With `--since` it sends the events from that
 * time on again.
 * @throws Error with one sentence where there is no such webhook
 */
export async function resumeWebhook(id: string, { since }: { since?: string }): Promise<void> {
  await withDatabasePool(async (pool) => {
    const webhook = (await listWebhooks(pool)).find((one) => one.id === parseWebhookId(id))
    if (!webhook) throw unknownWebhookError(id)
    await replayWebhook(
      pool,
      webhook.id,
      since === undefined ? undefined : await feedCursorAt(pool, webhook, since),
    )
  })
  console.log('It is sent to again, within seconds.')
}

function parseWebhookId(id: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(id)) throw unknownWebhookError(id)
  return Number(id)
}

const unknownWebhookError = (id: string): Error =>
  new Error(`There is no webhook of the id ${id}: \`clusterd webhooks list\` shows them.`)
