import type { Registry } from 'prom-client'
import type { countWebhooks } from '../../db/webhooks/webhooks.js'
import { metricFactories } from '../../ops/metricFactories.js'

/** Number of a network's webhooks by state, and the longest time for which a webhook has been failing, ms. */
export type WebhookCounts = Awaited<ReturnType<typeof countWebhooks>>[number]

/** Creates the webhooks' metrics. @returns function that sets their values */
export function createWebhookMetrics(
  registry: Registry,
): (counts: readonly WebhookCounts[]) => void {
  const { gauge } = metricFactories(registry)
  const webhooks = gauge(
    'clusterd_webhooks',
    'Webhooks by state; `parked` ones get nothing until `clusterd webhooks replay`',
    ['network', 'state'],
  )
  const failing = gauge(
    'clusterd_webhook_failing_seconds',
    'How long the webhook that fails longest has been failing, 0 where none does',
    ['network'],
  )
  return (counts) => {
    for (const one of [webhooks, failing]) one.reset()
    for (const { network, oldestMs, ...states } of counts) {
      for (const [state, count] of Object.entries(states)) webhooks.set({ network, state }, count)
      failing.set({ network }, oldestMs / 1_000)
    }
  }
}
