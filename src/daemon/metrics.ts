import { Counter, Gauge, type Registry } from 'prom-client'
import type { NodeCounters } from '../chains/rpc/nodes.js'
import type { OpenJobCount } from '../db/outbox/stats.js'
import { type ChainState, headAgeMs } from '../ops/chainState.js'
import type { ProcessPart } from '../ops/internalErrors.js'
import { JOB_KIND, UNFINISHED_JOB_STATES } from '../registry/outbox.js'
import { RELAYER_GAUGES } from '../relayer/relayerState.js'
import { type ProcessSnapshot, processAlarms } from './snapshot.js'

const JOB_KINDS = Object.keys(JOB_KIND)

/** Sample of the metric `clusterd_alarm` that is always exported, so that the metric also exists without an alarm. */
const NO_ALARM_SAMPLE = [{ alarm: 'none', network: '', chain: '', subject: '' }, 0] as const

/**
 * Adds the metrics that show the daemon's snapshot.
 * @param read makes a snapshot, once a scrape
 */
export function registerSnapshotMetrics(registry: Registry, read: () => ProcessSnapshot): void {
  let snapshot: ProcessSnapshot
  const show = createMetricAdder(registry, () => snapshot)
  show(
    'clusterd_alarm',
    'Problems by the alarm that names their remedy; `/status` describes each',
    ['alarm', 'network', 'chain', 'subject'],
    () => {
      // the metrics after this one show the same snapshot
      snapshot = read()
      const { problems, warnings } = processAlarms(snapshot)
      const samples = [...problems, ...warnings].map(
        ({ alarm, network = '', chain = '', subject = '' }) =>
          [{ alarm, network, chain, subject }, 1] as const,
      )
      return [NO_ALARM_SAMPLE, ...samples]
    },
  )
  addChainMetrics(show)
  addNodeMetrics(show)
  addOutboxMetrics(show)
  show(
    'clusterd_leader',
    '1 in the process that leads a network in a role, 0 where it stands by',
    ['network', 'role'],
    ({ leads }) =>
      leads.map(({ network, role, isLeading }) => [{ network, role }, Number(isLeading)]),
  )
  show(
    'clusterd_relay_wanted',
    '1 where a network has messages or payments to carry',
    ['network'],
    ({ relayed }) => relayed.map((network) => [{ network }, 1]),
  )
  show(
    'clusterd_step_age_seconds',
    'Time since the last turn of a loop',
    ['loop', 'network', 'chain'],
    ({ loops }) => loops.map((loop) => [processPartLabels(loop), loop.ageMs / 1_000]),
  )
  show(
    'clusterd_step_failures',
    'Failed turns of a loop in a row; `/status` has the last error',
    ['loop', 'network', 'chain'],
    ({ loops }) => loops.map((loop) => [processPartLabels(loop), loop.failures]),
  )
  show(
    'clusterd_http_failed_ratio',
    'Share of the last minute’s requests that failed by our fault; of kinds of which three failed',
    ['method', 'route'],
    ({ failedRoutes }) =>
      failedRoutes.map(({ method, route, failed, all }) => [{ method, route }, failed / all]),
  )
  show(
    'clusterd_own_errors_total',
    'Errors of our own code, by the loop that met them',
    ['loop', 'network', 'chain'],
    ({ internalErrors }) => internalErrors.map((place) => [processPartLabels(place), place.count]),
  )
  show(
    'clusterd_database_connections',
    'Connections of a pool: total, idle, or waited for',
    ['pool', 'state'],
    ({ pools }) =>
      Object.entries(pools).flatMap(([pool, { totalCount, idleCount, waitingCount }]) => [
        [{ pool, state: 'total' }, totalCount],
        [{ pool, state: 'idle' }, idleCount],
        [{ pool, state: 'waiting' }, waitingCount],
      ]),
  )
  show(
    'clusterd_changes_waiting',
    'Signed changes that wait for their turn',
    [],
    ({ changesWaiting }) => [[{}, changesWaiting]],
  )
  show(
    'clusterd_http_staying',
    'Requests that wait for a status (waits), and open streams of the feed',
    ['kind'],
    ({ openLongRequests }) =>
      Object.entries(openLongRequests).map(([kind, count]) => [{ kind }, count]),
  )
}

/** Values of a metric, each with its labels. A null value is not exported. */
type MetricSamples<Label extends string> = readonly (readonly [
  Record<Label, string>,
  number | null,
])[]

type AddMetric = ReturnType<typeof createMetricAdder>

/**
 * Creates the function that adds a metric. Its values are read from a snapshot at each scrape. A metric whose name ends
 * in `_total` is a counter, any other a gauge.
 */
const createMetricAdder =
  (registry: Registry, read: () => ProcessSnapshot) =>
  <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    samples: (snapshot: ProcessSnapshot) => MetricSamples<Label>,
  ) => {
    function collect(this: Counter<Label> | Gauge<Label>): void {
      this.reset()
      for (const [labels, value] of samples(read())) if (value !== null) this.inc(labels, value)
    }
    const options = { name, help, labelNames, registers: [registry], collect }
    return name.endsWith('_total') ? new Counter<Label>(options) : new Gauge<Label>(options)
  }

const processPartLabels = ({ name, network = '', chain = '' }: ProcessPart) => ({
  loop: name,
  network,
  chain,
})

/** Metrics of the chains that this process indexes. */
function addChainMetrics(show: AddMetric): void {
  const ofChain = (
    name: string,
    help: string,
    value: (state: ChainState, nowMs: number) => number | null,
  ) =>
    show(name, help, ['network', 'chain'], ({ chains, nowMs }) =>
      chains.flatMap(({ network, label, state }) =>
        state ? [[{ network, chain: label }, value(state, nowMs)] as const] : [],
      ),
    )
  ofChain('clusterd_chain_head_block', 'Newest block of the chain', ({ latest }) => latest)
  ofChain('clusterd_chain_confirmed_block', 'Newest confirmed block', ({ confirmed }) => confirmed)
  ofChain(
    'clusterd_chain_next_block',
    'First block that is not yet in the journal',
    ({ nextBlock }) => nextBlock,
  )
  ofChain(
    'clusterd_chain_head_age_seconds',
    'Time since the newest block, by its header',
    (state, nowMs) => secondsOrNull(headAgeMs(state, nowMs)),
  )
  ofChain(
    'clusterd_chain_finality_age_seconds',
    'Time since the newest finalized block',
    ({ confirmedMs }, nowMs) => secondsOrNull(confirmedMs && nowMs - confirmedMs),
  )
  ofChain('clusterd_chain_caught_up', '0 during the first catch-up', ({ isCaughtUp }) =>
    Number(isCaughtUp),
  )
  show(
    'clusterd_chain_stage_seconds',
    'Time of the last minute by what the indexer of the chain did: waited for a node, decoded and hashed logs, folded entries, wrote rows and waited for the database, or was idle',
    ['network', 'chain', 'stage'],
    ({ chains }) =>
      chains.flatMap(({ network, label, state }) =>
        Object.entries(state?.stagesMs ?? {}).map(
          ([stage, ms]) => [{ network, chain: label, stage }, ms / 1_000] as const,
        ),
      ),
  )
  show(
    'clusterd_chain_trust',
    'Nodes whose equal answers the newest confirmed logs rest on, by the trust: proved, compared or trusted',
    ['network', 'chain', 'trust'],
    ({ chains }) =>
      chains.flatMap(({ network, label, state }) =>
        state?.trust
          ? [[{ network, chain: label, trust: state.trust }, state.trustNodes] as const]
          : [],
      ),
  )
}

/** Metrics of the chains' nodes, by consumer. */
function addNodeMetrics(show: AddMetric): void {
  const ofNode = (name: string, help: string, value: (node: NodeCounters) => number | null) =>
    show(name, help, ['network', 'chain', 'use', 'host'], ({ chains }) =>
      chains.flatMap(({ network, label: chain, nodes: consumers }) =>
        consumers.flatMap(({ use, nodes }) =>
          nodes.map((node) => [{ network, chain, use, host: node.host }, value(node)] as const),
        ),
      ),
    )
  ofNode(
    'clusterd_rpc_errors',
    'Requests that failed by a fault of the node',
    ({ errors }) => errors,
  )
  ofNode('clusterd_rpc_latency_seconds', 'Time of recent answers', ({ latencyMs }) =>
    secondsOrNull(latencyMs),
  )
  ofNode('clusterd_rpc_rest_seconds', 'Time for which a node is passed over', ({ restMs }) =>
    secondsOrNull(restMs),
  )
}

/** Metrics of the outboxes that this process leads. */
function addOutboxMetrics(show: AddMetric): void {
  const ofJobs = (
    name: string,
    help: string,
    value: (jobs: readonly OpenJobCount[], nowMs: number) => number,
  ) =>
    show(name, help, ['network', 'kind', 'state'], ({ outboxes, nowMs }) =>
      outboxes.flatMap(({ network, relayers }) => {
        const counted = relayers.flatMap(({ open }) => (open ? [open] : []))
        if (counted.length === 0) return []
        return JOB_KINDS.flatMap((kind) =>
          UNFINISHED_JOB_STATES.map((state) => {
            const jobs = counted.flat().filter((job) => job.kind === kind && job.state === state)
            return [{ network, kind, state }, value(jobs, nowMs)] as const
          }),
        )
      }),
    )
  ofJobs(
    'clusterd_outbox_jobs',
    'Jobs that have not ended, by kind and state; `parked` ones wait for an operator, dust that is left to its payers is not counted',
    (jobs) => jobs.reduce((sum, { count }) => sum + count, 0),
  )
  ofJobs(
    'clusterd_outbox_oldest_seconds',
    'Age of the oldest job of each kind and state, else 0',
    (jobs, nowMs) => (nowMs - Math.min(nowMs, ...jobs.map(({ oldestMs }) => oldestMs))) / 1_000,
  )
  for (const { name, help, value } of RELAYER_GAUGES)
    show(name, help, ['network', 'chain'], ({ outboxes }) =>
      outboxes
        .flatMap(({ relayers }) => relayers)
        .map((relayer) => [{ network: relayer.network, chain: relayer.chain }, value(relayer)]),
    )
}

const secondsOrNull = (ms: number | null): number | null => ms && ms / 1_000
