import type pg from 'pg'
import { formatEther, formatUnits } from 'viem'
import { findSince } from './db/journal/feed.js'
import { listJobs } from './db/outbox/list.js'
import type { JobRow } from './db/outbox/rows.js'
import { owedRefunds } from './db/outbox/stats.js'
import { nullIfAway } from './db/pg/unavailable.js'
import { ALARMS, type AlarmName } from './ops/alarms.js'
import type { Metrics } from './ops/metrics.js'
import { type Html, html } from './ops/port/html.js'
import type { OpsPage } from './ops/port/server.js'
import type { NodeNumbers } from './ops/rpcMetrics.js'
import { JOB_STATE, type JobState } from './registry/outbox.js'
import { toHex } from './registry/primitives/bytes.js'
import { NETWORKS, type Network } from './registry/primitives/network.js'
import { DAY_MS, LOW_BALANCE_LAMPORTS, LOW_RUNWAY_MS } from './relayer/report/problems.js'
import { type StatusSources, statusOf } from './status.js'

/** Jobs that the page lists, the newest. */
const JOBS_SHOWN = 100
const OPEN = Object.keys(JOB_STATE).filter((state) => state !== 'confirmed') as JobState[]

/**
 * The operator's first page: what is wrong, chains, leaders, the outbox, nodes and loops.
 * @param nodes the RPC nodes that this process asks
 */
export const overviewPage = (sources: () => StatusSources, nodes: Metrics['rpc']['nodes']): OpsPage => ({
  title: 'clusterd',
  async show() {
    const { pool, relays } = sources()
    // while the database is away this page is needed most: what needs it is left out then
    const [status, found] = await Promise.all([statusOf(sources()), nullIfAway(readStored(pool))])
    return html`<p><a href="/alarms">Alarms</a> · <a href="/status">Status as JSON</a> · <a href="/metrics">Metrics</a></p>
${problemsOf(status)}${chainsOf(status)}${leadersOf(status)}${balancesOf(relays)}${storedOf(found)}${nodesOf(nodes())}${loopsOf(status)}`
  },
})

/** What the page shows of the database: the outbox, refunds and the feed. */
async function readStored(pool: pg.Pool) {
  const [jobs, owed, feeds] = await Promise.all([
    listJobs(pool, { networks: NETWORKS, states: OPEN, limit: JOBS_SHOWN }),
    Promise.all(NETWORKS.map(async (network) => ({ network, ...(await owedRefunds(pool, network)) }))),
    Promise.all(NETWORKS.map((network) => feedRow(pool, network))),
  ])
  return { jobs, owed, feeds }
}

function storedOf(found: Awaited<ReturnType<typeof readStored>> | null): Html {
  if (!found) return html`<p class="bad">The database does not answer: outbox, refunds and feed are not shown.</p>`
  const { jobs, owed, feeds } = found
  return html`${outboxOf(jobs)}<h2>Owed on Solana</h2>${tableOf(
    ['Network', 'Refunds that nobody has asked for', 'Lamports'],
    owed.map(({ network, count, lamports }) => [network, count, lamports]),
  )}<h2>Feed</h2>${tableOf(['Network', 'Events', 'In the last hour', 'In the last day'], feeds)}`
}

/** A network's events: all, those of the last hour, and of the last day. */
async function feedRow(pool: pg.Pool, network: Network): Promise<unknown[]> {
  const nowMs = Date.now()
  const [hour, day] = await Promise.all([HOUR_MS, DAY_MS].map((ms) => findSince(pool, network, nowMs - ms)))
  return [network, ...[hour!.newest, hour!.newest - hour!.first + 1, day!.newest - day!.first + 1]]
}

type Status = Awaited<ReturnType<typeof statusOf>>

const tableOf = (head: readonly string[], rows: readonly (readonly unknown[])[]): Html =>
  rows.length === 0
    ? html`<p>None.</p>`
    : html`<table><tr>${head.map((cell) => html`<th>${cell}`)}${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}`)}`)}</table>`

const badly = (isBad: boolean, text: unknown): unknown => (isBad ? html`<span class="bad">${text}</span>` : text)

const problemsOf = ({ problems, alarms }: Status): Html =>
  alarms.length === 0
    ? html`<p>All is well.</p>`
    : html`<h2>To look at</h2>${tableOf(
        ['What', 'To do', 'Alarm'],
        alarms.map(({ text, remedy, alarm }) => [
          badly(problems.includes(text), text),
          proseOf(remedy),
          html`<a href="/alarms#${alarm.toLowerCase()}">${alarm}</a>`,
        ]),
      )}`

/** Text with code in backticks. */
const proseOf = (text: string): unknown[] =>
  text.split('`').map((part, i) => (i % 2 === 0 ? part : html`<code>${part}</code>`))

/** All alarms, what they mean and what to do. */
export const alarmsPage: OpsPage = {
  title: 'Alarms',
  show: async () =>
    html`<p><a href="/">Back</a></p>${(Object.keys(ALARMS) as AlarmName[]).map(
      (name) => html`<h2 id="${name.toLowerCase()}">${name}</h2><p>${proseOf(ALARMS[name].means)}</p>
<p><b>To do:</b> ${proseOf(ALARMS[name].remedy)}</p>`,
    )}`,
}

const HOUR_MS = 3_600_000
const runwayText = (ms: number | null): string => {
  if (ms === null) return 'nothing spent in a day'
  const days = Math.floor(ms / DAY_MS)
  return days > 365 ? 'over a year' : days > 0 ? `${days} d` : `${Math.floor(ms / HOUR_MS)} h`
}

/** Coins to six digits. */
const shortEther = (wei: bigint): string => String(Number(Number(formatEther(wei)).toPrecision(6)))

/** Who pays for what is sent, how much is left, and for how long; known to the process that leads. */
const balancesOf = (relays: StatusSources['relays']): Html =>
  html`<h2>Balances</h2>${tableOf(
    ['Network', 'Chain', 'Account', 'Balance', 'Signed today', 'Lasts'],
    relays.flatMap((relay) => {
      const { network, relayers, payer } = relay.state()
      const authority = payer?.balanceLamports ?? null
      return [
        ...relayers.flatMap(({ chain, signer, balanceWei, stats, runwayMs }) =>
          balanceWei === null
            ? []
            : [
                [
                  ...[network, chain, html`<code>${signer}</code>`, shortEther(balanceWei)],
                  shortEther(stats?.signedTodayWei ?? 0n),
                  badly(runwayMs !== null && runwayMs < LOW_RUNWAY_MS, runwayText(runwayMs)),
                ],
              ],
        ),
        ...(authority === null
          ? []
          : [
              [
                network,
                'solana',
                'relay authority',
                badly(authority < LOW_BALANCE_LAMPORTS, `${formatUnits(authority, 9)} SOL`),
                '',
                '',
              ],
            ]),
      ]
    }),
  )}<p>Kept, owed and held by the contracts: <code>clusterd funds</code>.</p>`

const secondsText = (seconds: number | null | undefined): string => (seconds == null ? '–' : `${seconds} s`)

const chainsOf = ({ chains }: Status): Html =>
  html`<h2>Chains</h2>${tableOf(
    ['Network', 'Chain', 'Head', 'Head’s age', 'Confirmed', 'Next block', 'Blocks behind', 'State'],
    chains.map((chain) => {
      const { network, label, problem, latest, confirmed, nextBlock, headAgeSeconds, lagBlocks } = chain
      return [
        network,
        label,
        latest,
        secondsText(headAgeSeconds),
        confirmed,
        nextBlock,
        lagBlocks,
        badly(!!problem, problem ?? 'current'),
      ]
    }),
  )}`

const leadersOf = ({ leaders }: Status): Html =>
  html`<h2>Leaders</h2>${tableOf(
    ['Network', 'Role', 'Address', 'This process'],
    leaders.map(({ network, role, address, isThisProcess }) => [
      network,
      role,
      address ?? 'local',
      isThisProcess ? 'yes' : 'no',
    ]),
  )}`

function outboxOf(jobs: readonly JobRow[]): Html {
  return html`<h2>Outbox</h2>${tableOf(
    ['Job', 'Network', 'Kind', 'State', 'Failures', 'Since', 'Subject'],
    jobs.map((job) => [
      ...[
        job.id,
        job.network,
        job.kind,
        badly(job.state === 'parked', `${job.state} ${job.reason ?? ''}`),
        job.failures,
      ],
      new Date(job.createdMs).toISOString().slice(0, 19),
      html`<code>${job.subject && toHex(job.subject)}</code>`,
    ]),
  )}`
}

const isAsked = ({ requests }: NodeNumbers): boolean => requests > 0
const isDoubted = (head: NodeNumbers['head']): boolean => head === 'behind' || head === 'doubtful'

const nodesOf = (asked: ReturnType<Metrics['rpc']['nodes']>): Html =>
  html`<h2>Nodes</h2>${tableOf(
    ['Chain', 'Host', 'Asked for', 'Requests', 'Errors', 'Latency', 'State'],
    asked.flatMap(({ chain, use, nodes }) =>
      nodes
        .filter(isAsked)
        .map(({ host, requests, errors, latencyMs, restMs, isWrong, head }) => [
          ...[chain, host, use, requests, errors, latencyMs === null ? '–' : `${Math.round(latencyMs)} ms`],
          badly(
            isWrong || restMs > 0 || isDoubted(head),
            isWrong
              ? 'another chain'
              : restMs > 0
                ? `rests ${Math.ceil(restMs / 1_000)} s`
                : isDoubted(head)
                  ? `head ${head}`
                  : 'well',
          ),
        ]),
    ),
  )}`

const loopsOf = ({ loops }: Status): Html =>
  html`<h2>Loops</h2>${tableOf(
    ['Loop', 'Network', 'Chain', 'Last turn', 'Failures', 'Last error'],
    loops.map(({ name, network, chain, ageSeconds, failures, lastError }) => [
      ...[name, network, chain, secondsText(ageSeconds), badly(failures > 0, failures), lastError],
    ]),
  )}`
