import type pg from 'pg'
import type { NodeCounters } from '../chains/rpc/nodes.js'
import { listJobs } from '../db/outbox/rows.js'
import { nullIfDatabaseUnavailable } from '../db/pg/unavailable.js'
import { type Html, html } from '../ops/port/html.js'
import { UNFINISHED_JOB_STATES } from '../registry/outbox.js'
import { toHex } from '../registry/primitives/bytes.js'
import { NETWORKS } from '../registry/primitives/network.js'
import { payingAccountCells, type RelayerState } from '../relayer/relayerState.js'
import type { ProcessSnapshot, ServedChain } from './snapshot.js'
import { installationStatus } from './status.js'

/** Maximum number of jobs on the page. Older jobs are left out. */
const MAX_JOBS_SHOWN = 100

/** Makes the operator's page: problems, chains, leaders, the outbox, nodes and loops. */
export async function renderOpsPage(snapshot: ProcessSnapshot, pool: pg.Pool): Promise<Html> {
  // this page is needed most while the database is unavailable, so it is then shown without the outbox
  const [status, outbox] = await Promise.all([
    installationStatus(snapshot, pool),
    nullIfDatabaseUnavailable(outboxSection(pool)),
  ])
  // `clusterd contracts status` compares what `clusterd contracts deploy` has written, and a local world is not
  // deployed by that command
  const isDeployed = snapshot.config.chains.some(({ local }) => !local)
  const chains = status.chains.map(({ network, label, problem, ...state }) => ({
    network,
    chain: label,
    state: markIfBad(
      problem !== null,
      problem ?? (state.trust === undefined ? 'unknown' : 'current'),
    ),
    head: state.latest,
    'head’s age, s': state.headAgeSeconds,
    'confirmed up to': state.confirmed,
    'next to index': state.nextBlock,
    'blocks behind': state.lagBlocks,
    'logs (nodes)': state.trust && `${state.trust} (${state.trustNodes})`,
  }))
  const loops = status.loops.map(({ name, network, chain, ageSeconds, failures, lastError }) => ({
    loop: name,
    network,
    chain,
    failures: markIfBad(failures > 0, failures),
    'last turn, s ago': ageSeconds,
    'last error': lastError,
  }))
  const leaders = status.leaders.map(({ network, role, address, isThisProcess }) => ({
    network,
    role,
    address: address ?? 'local',
    process: isThisProcess ? 'this one' : 'another',
  }))
  const balances = snapshot.outboxes.flatMap(({ relayers }) => relayers.flatMap(payingAccountRows))
  return html`<p><a href="/status">Status as JSON</a> · <a href="/metrics">Metrics</a></p>
${problemsSection(status)}${tableSection('Chains', chains)}${tableSection('Leaders', leaders)}${tableSection('Balances', balances)}
${isDeployed ? html`<p>Kept, owed and held by the contracts: <code>clusterd contracts status</code>.</p>` : ''}
${outbox ?? html`<p class="bad">The database does not answer: the outbox is not shown.</p>`}
${tableSection('Nodes', snapshot.chains.flatMap(nodeRows))}${tableSection('Loops', loops)}`
}

async function outboxSection(pool: pg.Pool): Promise<Html> {
  const shown = { networks: NETWORKS, states: UNFINISHED_JOB_STATES, limit: MAX_JOBS_SHOWN }
  const jobs = await listJobs(pool, shown)
  const open = jobs.map(({ id, network, kind, state, reason, failures, createdMs, subject }) => ({
    job: id,
    state: markIfBad(state === 'parked', `${state} ${reason ?? ''}`),
    network,
    kind,
    failures,
    since: new Date(createdMs).toISOString().slice(0, 19),
    subject: subject && codeHtml(toHex(subject)),
  }))
  return tableSection('Outbox', open)
}

/** A section with a table of rows. Its columns are the rows' fields. On a phone each cell shows its column's name. */
function tableSection(title: string, rows: readonly object[]): Html {
  const [first] = rows
  if (first === undefined) return html`<h2>${title}</h2><p>None.</p>`
  const head = Object.keys(first).map((name) => html`<th>${name}`)
  const cell = ([name, value]: [string, unknown]) => html`<td data-name="${name}">${value}`
  const body = rows.map((row) => html`<tr>${Object.entries(row).map(cell)}`)
  return html`<h2>${title}</h2><table><thead><tr>${head}<tbody>${body}</table>`
}

const markIfBad = (isBad: boolean, text: unknown): unknown =>
  isBad ? html`<span class="bad">${text}</span>` : text
const codeHtml = (text: string): Html => html`<code>${text}</code>`

type InstallationStatus = Awaited<ReturnType<typeof installationStatus>>

const problemsSection = ({ problems, alarms }: InstallationStatus): Html =>
  alarms.length === 0
    ? html`<p>All is well.</p>`
    : html`<h2>To check</h2>${alarms.map(
        ({ text, remedy, alarm, isSeeded }) =>
          html`<p>${markIfBad(problems.includes(text), text)} (${codeHtml(alarm)}${isSeeded ? ', seeded by the local world' : ''})<br>To do: ${formatBackticks(remedy)}</p>`,
      )}`

/** Formats the parts of a text that are in backticks as code. */
const formatBackticks = (text: string): unknown[] =>
  text.split('`').map((part, i) => (i % 2 === 0 ? part : codeHtml(part)))

/** Row of a relayer's paying account. No row while its balance is unknown, such as where another process leads. */
function payingAccountRows(state: RelayerState): object[] {
  const { network, chain, balance } = state
  if (balance === null) return []
  const { isLow, account, ...shown } = payingAccountCells(state, balance)
  return [
    {
      network,
      chain,
      account: codeHtml(account),
      balance: markIfBad(isLow, shown.balance),
      'signed today': shown.signedToday,
      'lasts, days': shown.lastsDays,
    },
  ]
}

const nodeRows = ({ network, label, nodes: consumers }: ServedChain): object[] =>
  consumers.flatMap(({ use, nodes }) =>
    nodes
      .filter(({ requests }) => requests > 0)
      .map((node) => ({
        network,
        chain: label,
        host: node.host,
        state: nodeState(node),
        use,
        requests: node.requests,
        errors: node.errors,
        'latency, ms': node.latencyMs && Math.round(node.latencyMs),
      })),
  )

function nodeState({ isWrong, restMs, head }: NodeCounters): unknown {
  if (isWrong) return markIfBad(true, 'another chain, or false logs')
  if (restMs > 0) return markIfBad(true, `rests ${Math.ceil(restMs / 1_000)} s`)
  return head === 'behind' || head === 'doubtful' ? markIfBad(true, `head ${head}`) : 'well'
}
