import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'
import { type ChainState, chainProblem, headAgeMs, headAlarmMs } from './chainState.js'
import { makersOf } from './makers.js'
import { createRpcMetrics } from './rpcMetrics.js'

/** Prometheus metrics of the daemon. No label holds an address, a name or a key. */
export type Metrics = ReturnType<typeof createMetrics>

/** Between two looks at the event loop's delay; the library's own 10 ms wake an idle process 100 times a second. */
const LAG_PRECISION_MS = 50

/** Makes the metrics. @param refresh sets the gauges just before they are read */
export function createMetrics(refresh: () => void = () => {}) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_PRECISION_MS })
  const { counter, gauge } = makersOf(registry)
  const chain = ['network', 'chain'] as const
  return {
    registry,
    entries: counter('clusterd_journal_entries_total', 'Chain entries appended to the journal', ['network']),
    wentBack: counter('clusterd_database_went_back_total', 'Times that entries were gone that had been there', [
      'network',
    ]),
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
    limited: counter('clusterd_http_limited_total', 'API requests refused by a limit, by route and limit', [
      'route',
      'limit',
    ]),
    chains: {
      headBlock: gauge('clusterd_chain_head_block', 'Newest block of the chain', chain, refresh),
      confirmedBlock: gauge('clusterd_chain_confirmed_block', 'Newest confirmed block', chain),
      nextBlock: gauge('clusterd_chain_next_block', 'First block that is not yet in the journal', chain),
      headAge: gauge('clusterd_chain_head_age_seconds', 'Time since the newest block, by its header', chain),
      headAlarm: gauge(
        'clusterd_chain_head_alarm_seconds',
        'Age from which the head counts as standing still: 20 times the usual time between blocks, at least 60 s',
        chain,
      ),
      finalityAge: gauge('clusterd_chain_finality_age_seconds', 'Time since the newest finalized block', chain),
      halted: gauge(
        'clusterd_chain_halted',
        '1 while indexing of the chain is stopped, because a confirmed block was replaced',
        chain,
      ),
      caughtUp: gauge('clusterd_chain_caught_up', '0 during the first catch-up', chain),
      failing: gauge('clusterd_chain_failing', '1 while the newest step failed; `/status` says why', chain),
      problem: gauge('clusterd_chain_problem', '1 while anything is wrong with the chain; `/status` says what', chain),
    },
  }
}

/** Sets the gauges of the chains that this process indexes; those of others are left out. */
export function showChains({ chains }: Metrics, states: readonly ChainState[], nowMs: number): void {
  for (const gauge of Object.values(chains)) gauge.reset()
  for (const state of states) {
    const labels = { network: state.network, chain: state.label }
    const headAge = headAgeMs(state, nowMs)
    if (state.latest !== null) chains.headBlock.set(labels, state.latest)
    if (state.confirmed !== null) chains.confirmedBlock.set(labels, state.confirmed)
    if (headAge !== null) chains.headAge.set(labels, headAge / 1_000)
    if (state.confirmedMs !== null) chains.finalityAge.set(labels, (nowMs - state.confirmedMs) / 1_000)
    chains.headAlarm.set(labels, headAlarmMs(state.blockMs) / 1_000)
    chains.nextBlock.set(labels, state.nextBlock)
    chains.halted.set(labels, Number(state.halted !== null))
    chains.caughtUp.set(labels, Number(state.isCaughtUp))
    chains.failing.set(labels, Number(state.lastError !== null))
    chains.problem.set(labels, Number(chainProblem(state, nowMs) !== null))
  }
}
