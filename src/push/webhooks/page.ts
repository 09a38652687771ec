import type pg from 'pg'
import { listWebhookFailures, listWebhooks, replayWebhook, type Webhook } from '../../db/outbox/webhooks.js'
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

/** The operator's page of webhooks: their state, what failed, and a button that sends again. */
export const webhooksPage = (pool: pg.Pool): OpsPage => ({
  title: 'Webhooks',
  async show(token) {
    const found = await nullIfAway(Promise.all([listWebhooks(pool), listWebhookFailures(pool, null)]))
    if (!found) return html`<p class="bad">The database does not answer.</p>`
    const [webhooks, failures] = found
    if (webhooks.length === 0) return html`<p>There is none: <code>clusterd webhooks add &lt;url&gt;</code></p>`
    const replay = (id: number, label: string, cursor?: string) =>
      html`<form method="post">${token}<input type="hidden" name="id" value="${id}">${
        cursor === undefined ? '' : html`<input type="hidden" name="cursor" value="${cursor}">`
      }<button>${label}</button></form>`
    const rows = webhooks.map(
      (one) => html`<tr><td>${one.id}<td>${one.network}<td>${one.url}<td>${stateOf(one)}<td>${one.delivered}
<td>${replay(one.id, 'Send now')}`,
    )
    const failed = failures.map(
      ({ webhook, atMs, message, reason, cursor }) => html`<tr><td>${timeOf(atMs)}<td>${webhook}<td>${reason}
<td><code>${message}</code><td>${replay(webhook, 'Send again from here', cursor ?? 'start')}`,
    )
    return html`<table><tr><th>Id<th>Network<th>URL<th>State<th>Events delivered<th>${rows}</table>
<h2>Failed deliveries</h2>
${failed.length === 0 ? html`<p>None.</p>` : html`<table><tr><th>When (UTC)<th>Webhook<th>Reason<th>Message<th>${failed}</table>`}`
  },
  async act(form) {
    const [id, cursor] = [Number(form.get('id')), form.get('cursor')]
    const from = cursor === null ? undefined : cursor === 'start' ? null : cursor
    if (!(await replayWebhook(pool, id, from))) throw new Error(`There is no webhook of the id ${id}.`)
  },
})
