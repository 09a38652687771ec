import type pg from 'pg'
import {
  addWebhookFailure,
  countWebhooks,
  type LeasedWebhook,
  leaseWebhooks,
  saveWebhook,
} from '../../db/outbox/webhooks.js'
import { alarmFields } from '../../ops/alarms.js'
import type { Logger } from '../../ops/log/log.js'
import type { Loops } from '../../ops/loops.js'
import { createNotify, type Notify } from '../../ops/notify.js'
import { IDLE_POLL_MS, runWorkers, type StepResult } from '../../ops/worker.js'
import { type DeliverPorts, deliver, type Failed, type ReadFeed } from './deliver.js'
import type { WebhookMetrics } from './metrics.js'
import { POST_LIMIT_MS } from './post.js'

/** Messages under way at a time, of different webhooks. */
const AT_ONCE = 8
/** Longer than a delivery takes with its reads: who holds a webhook that long is gone. */
const LEASE_MS = 3 * POST_LIMIT_MS

export interface WebhookOptions {
  pool: pg.Pool
  readFeed: ReadFeed
  /** Whether private addresses are allowed. */
  allowsPrivate: boolean
  metrics: WebhookMetrics
  log: Logger
  loops: Loops
  signal: AbortSignal
  nowMs?: () => number
}

/** Sends the public feed to the operator's webhooks until the signal; any number of processes share them. */
export function runWebhooks(options: WebhookOptions): { notify(): void; done: Promise<void> } {
  const { log, loops, signal } = options
  const webhooks = new Webhooks({ ...options, nowMs: options.nowMs ?? Date.now })
  const { notify } = webhooks
  const worker = {
    ...{ name: 'the webhooks', fields: {}, pollMs: IDLE_POLL_MS, notify },
    step: () => webhooks.step(),
  }
  const done = runWorkers([worker], { log, loops, signal }).finally(() => webhooks.ended())
  // where there is none, no block of a chain costs a statement
  return { notify: () => void (webhooks.count > 0 && notify.notify()), done }
}

class Webhooks {
  readonly notify: Notify = createNotify()
  count = 0
  readonly #options: WebhookOptions & DeliverPorts
  readonly #underWay = new Set<Promise<void>>()
  /** By a clock that nobody sets. */
  #countedMs = Number.NEGATIVE_INFINITY

  constructor(options: WebhookOptions & DeliverPorts) {
    this.#options = options
  }

  /** Takes what has something to deliver, as far as there is room; each that ends wakes the next step. */
  async step(): Promise<StepResult> {
    const { pool, nowMs } = this.#options
    const now = nowMs()
    if (performance.now() - this.#countedMs >= IDLE_POLL_MS) await this.#countAll(now)
    const atMost = AT_ONCE - this.#underWay.size
    if (this.count === 0 || atMost === 0) return 'idle'
    for (const hook of await leaseWebhooks(pool, { atMost, nowMs: now, leaseMs: now + LEASE_MS })) {
      const delivery = this.#deliver(hook).finally(() => {
        this.#underWay.delete(delivery)
        this.notify.notify()
      })
      this.#underWay.add(delivery)
    }
    return 'idle'
  }

  /** Settles when nothing is under way. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay)
  }

  async #countAll(nowMs: number): Promise<void> {
    const { pool, metrics } = this.#options
    const counts = await countWebhooks(pool, nowMs)
    this.#countedMs = performance.now()
    this.count = counts.reduce((sum, { active, failing }) => sum + active + failing, 0)
    metrics.show(counts)
  }

  /** Delivers a message and stores what became of it. Never throws: what fails goes again when its lease has ended. */
  async #deliver(hook: LeasedWebhook): Promise<void> {
    const { pool, log } = this.#options
    const { id, network, url } = hook
    const fields = { network, webhook: id, host: new URL(url).host }
    try {
      const delivered = await deliver(hook, this.#options)
      // another process need not wait for the lease
      if (delivered.outcome === 'stopped') return void (await saveWebhook(pool, hook, hook))
      if (delivered.outcome !== 'nothing') this.#options.metrics.messages.inc({ network, outcome: delivered.outcome })
      if ('reason' in delivered) await this.#failed(hook, delivered, fields)
      await saveWebhook(pool, hook, delivered.after)
    } catch (err) {
      log.warn({ ...fields, err }, 'a delivery to a webhook was interrupted; it goes again')
    }
  }

  async #failed(hook: LeasedWebhook, { message, reason, after }: Failed, fields: object): Promise<void> {
    const { pool, log, nowMs } = this.#options
    await addWebhookFailure(pool, { webhook: hook.id, atMs: nowMs(), message, cursor: hook.cursor, reason })
    if (after.parked)
      log.error(
        { ...fields, reason, ...alarmFields('ClusterdWebhookParked') },
        'a webhook is parked until `clusterd webhooks replay`',
      )
    else if (after.failures === 1) log.warn({ ...fields, reason }, 'a webhook fails; it will be tried again')
  }
}
