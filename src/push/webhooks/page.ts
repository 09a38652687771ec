import type pg from 'pg'
import { listWebhookFailures, listWebhooks, type Webhook } from '../../db/outbox/webhooks.js'
import { nullIfAway } from '../../db/pg/unavailable.js'
import { html } from '../../ops/port/html.js'
import type { OpsPage } from '../../ops/port/server.js'

const timeOf = (ms: number): string => new Date(ms).toISOString().replace('T', ' ').slice(0, 19)

const stateOf = ({ parked, failures, failingMs }: Webhook) =>
  parked !== null
    ? html`<span class="bad">parked: ${parked}</span>`
    : failingMs !== null
      ? html`<span class="bad">${failures} failures since ${timeOf(failingMs)}</span>`
      : 'active'

/** The operator's page of webhooks: their state and what failed; `clusterd webhooks replay` sends again. */
export const webhooksPage = (pool: pg.Pool): OpsPage => ({
  title: 'Webhooks',
  async show() {
    const found = await nullIfAway(Promise.all([listWebhooks(pool), listWebhookFailures(pool, null)]))
    if (!found) return html`<p class="bad">The database does not answer.</p>`
    const [webhooks, failures] = found
    if (webhooks.length === 0) return html`<p>There is none: <code>clusterd webhooks add &lt;url&gt;</code></p>`
    const rows = webhooks.map(
      (one) => html`<tr><td>${one.id}<td>${one.network}<td>${one.url}<td>${stateOf(one)}<td>${one.delivered}`,
    )
    const failed = failures.map(
      ({ webhook, atMs, message, reason }) =>
        html`<tr><td>${timeOf(atMs)}<td>${webhook}<td>${reason}<td><code>${message}</code>`,
    )
    return html`<table><tr><th>Id<th>Network<th>URL<th>State<th>Events delivered${rows}</table>
<h2>Failed deliveries</h2>
${failed.length === 0 ? html`<p>None.</p>` : html`<table><tr><th>When (UTC)<th>Webhook<th>Reason<th>Message${failed}</table>`}`
  },
})
