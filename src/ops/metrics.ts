import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { type ChainState, chainProblem, headAgeMs, staleHeadAgeMs } from './chainState.js'
import { metricFactories } from './metricFactories.js'
import { createRpcMetrics } from './rpcMetrics.js'

/** Prometheus metrics of the daemon. No label holds an address, a name or a key. */
export type Metrics = ReturnType<typeof createMetrics>

const UNDECIDED = [
  ['ClusterdRpcSilent', 'silent'],
  ['ClusterdRpcContradiction', 'contradiction'],
] as const

/** Sampling interval of the event loop's delay, ms. The default of 10 ms wakes an idle process 100 times a second. */
const LAG_PRECISION_MS = 50

/** Creates the daemon's metrics. @param states returns the states of the chains that this process indexes */
export function createMetrics(states: () => readonly ChainState[] = () => []) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS })
  const { counter, gauge } = metricFactories(registry)
  const ofChain = (
    name: string,
    help: string,
    read: (state: ChainState, nowMs: number) => number | null,
  ) =>
    gauge(name, help, ['network', 'chain'], () =>
      states().map((state) => [
        { network: state.network, chain: state.label },
        read(state, Date.now()),
      ]),
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
    (state, nowMs) => secondsOf(headAgeMs(state, nowMs)),
  )
  ofChain(
    'clusterd_chain_head_alarm_seconds',
    'Age from which the head counts as standing still: 20 times the usual time between blocks, at least 60 s',
    ({ blockMs }) => secondsOf(staleHeadAgeMs(blockMs)),
  )
  ofChain(
    'clusterd_chain_finality_age_seconds',
    'Time since the newest finalized block',
    ({ confirmedMs }, nowMs) => secondsOf(confirmedMs && nowMs - confirmedMs),
  )
  ofChain(
    'clusterd_chain_halted',
    '1 while indexing of the chain is stopped, because a confirmed block was replaced',
    ({ halted }) => Number(halted !== null),
  )
  ofChain('clusterd_chain_caught_up', '0 during the first catch-up', ({ isCaughtUp }) =>
    Number(isCaughtUp),
  )
  ofChain(
    'clusterd_chain_failing',
    '1 while the newest step failed; `/status` says why',
    ({ lastError }) => Number(lastError !== null),
  )
  addStageMetrics(registry, states)
  addTrustMetrics(registry, states)
  ofChain(
    'clusterd_chain_problem',
    '1 while anything is wrong with the chain; `/status` says what',
    (state, nowMs) => Number(chainProblem(state, nowMs) !== null),
  )
  return {
    registry,
    entries: counter('clusterd_journal_entries_total', 'Chain entries appended to the journal', [
      'network',
    ]),
    wentBack: counter(
      'clusterd_database_went_back_total',
      'Times that entries were gone that had been there',
      ['network'],
    ),
    logBehind: gauge(
      'clusterd_log_behind_events',
      'Events of the feed that its signed log does not have yet',
      ['network'],
    ),
    paymentsWait: gauge(
      'clusterd_payments_wait_seconds',
      'Longest wait of a payment for a community name for a chain that has to be asked about its payer',
      ['network'],
    ),
    rpc: createRpcMetrics(registry),
    requests: new Histogram({
      name: 'clusterd_http_request_seconds',
      help: 'API requests by route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15],
      registers: [registry],
    }),
    limited: counter(
      'clusterd_http_limited_total',
      'API requests refused by a limit, by route and limit',
      ['route', 'limit'],
    ),
  }
}

/** Adds the metric of the time that each chain's indexer spent in each stage during the last minute. */
function addStageMetrics(registry: Registry, states: () => readonly ChainState[]): void {
  const { gauge } = metricFactories(registry)
  gauge(
    'clusterd_chain_stage_seconds',
    'Time of the last minute by what the indexer of the chain did: waited for a node, decoded and hashed logs, folded entries, wrote rows and waited for the database, or was idle',
    ['network', 'chain', 'stage'],
    () =>
      states().flatMap(({ network, label, stagesMs }) =>
        Object.entries(stagesMs).map(
          ([stage, ms]) => [{ network, chain: label, stage }, ms / 1_000] as const,
        ),
      ),
  )
}

/** Adds the metric of the number of nodes whose equal answers confirm the logs of each chain. */
function addTrustMetrics(registry: Registry, states: () => readonly ChainState[]): void {
  const { gauge } = metricFactories(registry)
  gauge(
    'clusterd_chain_trust',
    'Nodes whose equal answers the newest confirmed logs rest on, by the trust: proved, compared or trusted',
    ['network', 'chain', 'trust'],
    () =>
      states().flatMap(({ network, label, trust, trustNodes }) =>
        trust ? [[{ network, chain: label, trust }, trustNodes] as const] : [],
      ),
  )
  gauge(
    'clusterd_chain_undecided',
    '1 while too few nodes agree on confirmed logs: a node is silent, or they contradict each other',
    ['network', 'chain', 'why'],
    () =>
      states().flatMap(({ network, label, errorAlarm }) =>
        UNDECIDED.map(
          ([alarm, why]) => [{ network, chain: label, why }, Number(errorAlarm === alarm)] as const,
        ),
      ),
  )
}

const secondsOf = (ms: number | null): number | null => ms && ms / 1_000
