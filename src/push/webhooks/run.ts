import type pg from 'pg'
import {
  addWebhookFailure,
  countWebhooks,
  type LeasedWebhook,
  leaseWebhooks,
  saveWebhook,
} from '../../db/webhooks/webhooks.js'
import { FAILING_WEBHOOK_ALARM_MS, type ProblemWithAlarm } from '../../ops/alarms.js'
import { isInternalError } from '../../ops/logger/errors.js'
import type { Logger } from '../../ops/logger/logger.js'
import type { WorkerLoops } from '../../ops/loops.js'
import { createLoopWaker } from '../../ops/waiting.js'
import { IDLE_POLL_MS, runWorkers, type Worker } from '../../ops/worker.js'
import { deliverNextMessage, type ReadFeedPage } from './deliver.js'
import { POST_TIMEOUT_MS } from './post.js'

/** Maximum number of messages that are delivered in parallel. Each message goes to another webhook. */
const MAX_PARALLEL_DELIVERIES = 8
/** Lease of a webhook, ms. It is longer than a delivery with its reads, so a process whose lease expires has died. */
const LEASE_MS = 3 * POST_TIMEOUT_MS

export interface RunWebhooksOptions {
  pool: pg.Pool
  readFeed: ReadFeedPage
  /** True if webhooks may use private addresses, and HTTP without TLS. */
  allowsPrivate: boolean
  log: Logger
  loops: WorkerLoops
  signal: AbortSignal
}

/** Delivers messages to webhooks until the signal fires. Several processes may share the webhooks. */
export function runWebhooks(options: RunWebhooksOptions): { notify(): void; done: Promise<void> } {
  const { pool, log, loops, signal } = options
  const notify = createLoopWaker()
  const underWay = new Set<Promise<void>>()
  /** Number of webhooks that are not parked. */
  let count = 0
  /** Time at which webhooks were last counted, by a monotonic clock, ms. */
  let countedMs = Number.NEGATIVE_INFINITY
  let alarms: ProblemWithAlarm[] = []
  const countAll = async () => {
    const counts = await countWebhooks(pool, Date.now())
    countedMs = performance.now()
    count = counts.reduce((sum, { active, failing }) => sum + active + failing, 0)
    alarms = counts.flatMap(webhookAlarms)
  }
  /**
   * Delivers a webhook's next message and stores the outcome. After an unexpected error, the message is delivered again
   * once the webhook's lease has expired.
   */
  const deliverOne = async (hook: LeasedWebhook): Promise<void> => {
    const { id, network, url } = hook
    const fields = { network, webhook: id, host: new URL(url).host }
    try {
      const delivered = await deliverNextMessage(hook, { ...options, nowMs: Date.now })
      if (delivered?.failure) {
        const { after, failure } = delivered
        const { reason } = failure
        await addWebhookFailure(pool, {
          webhook: id,
          atMs: Date.now(),
          cursor: hook.cursor,
          ...failure,
        })
        if (after.parked)
          log.error({ ...fields, reason }, 'a webhook is parked until `clusterd webhooks replay`')
        else if (after.failures === 1)
          log.warn({ ...fields, reason }, 'a webhook fails; it will be tried again')
      }
      // the webhook is also saved after an interrupted delivery, so that another process need not wait for the lease to
      // expire
      await saveWebhook(pool, hook, delivered?.after ?? hook)
    } catch (err) {
      if (isInternalError(err))
        loops.internalErrors.report({ name: worker.name, network }, err, log, fields)
      else log.warn({ ...fields, err }, 'a delivery to a webhook was interrupted; it goes again')
    }
  }
  const worker: Worker = {
    name: 'the webhooks',
    fields: {},
    pollMs: IDLE_POLL_MS,
    notify,
    alarms: () => alarms,
    /**
     * Starts deliveries to webhooks that have new events, up to `MAX_PARALLEL_DELIVERIES` at a time. The end of each
     * delivery starts the next step.
     */
    async step() {
      if (performance.now() - countedMs >= IDLE_POLL_MS) await countAll()
      const atMost = MAX_PARALLEL_DELIVERIES - underWay.size
      if (count === 0 || atMost === 0) return 'idle'
      const nowMs = Date.now()
      for (const hook of await leaseWebhooks(pool, { atMost, nowMs, leaseMs: nowMs + LEASE_MS })) {
        const delivery = deliverOne(hook).finally(() => {
          underWay.delete(delivery)
          notify.notify()
        })
        underWay.add(delivery)
      }
      return 'idle'
    },
  }
  const done = runWorkers([worker], { log, loops, signal }).finally(() => Promise.all(underWay))
  // without webhooks, a change of a network causes no database query
  return { notify: () => void (count > 0 && notify.notify()), done }
}

type WebhookCounts = Awaited<ReturnType<typeof countWebhooks>>[number]

function webhookAlarms({ network, parked, oldestMs }: WebhookCounts): ProblemWithAlarm[] {
  const alarms: ProblemWithAlarm[] = []
  if (parked > 0)
    alarms.push({
      alarm: 'ClusterdWebhookParked',
      text: `${parked} webhooks of ${network} are parked`,
      network,
    })
  if (oldestMs > FAILING_WEBHOOK_ALARM_MS)
    alarms.push({
      alarm: 'ClusterdWebhookFails',
      text: `a webhook of ${network} has failed for ${Math.floor(oldestMs / 60_000)} min`,
      network,
    })
  return alarms
}
