import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Prometheus metrics of the daemon. No label holds an address, a name or a key. */
export interface Metrics {
  registry: Registry
  steps: Counter<'network' | 'chain' | 'outcome'>
  entries: Counter<'network'>
  payments: Counter<'network'>
  rpcFaults: Counter<'chain' | 'fault'>
  requests: Histogram<'method' | 'route' | 'status'>
  headBlock: Gauge<'network' | 'chain'>
  confirmedBlock: Gauge<'network' | 'chain'>
  nextBlock: Gauge<'network' | 'chain'>
  halted: Gauge<'network' | 'chain'>
}

/** Makes the metrics. @param refresh sets the gauges just before they are read */
export function createMetrics(refresh: (metrics: Metrics) => void = () => {}): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const chain = ['network', 'chain'] as const
  const gauge = (name: string, help: string, collect?: () => void) =>
    new Gauge({ name, help, labelNames: chain, registers, ...(collect ? { collect } : {}) })
  const metrics: Metrics = {
    registry,
    steps: new Counter({
      name: 'clusterd_indexer_steps_total',
      help: 'Indexer steps by outcome',
      labelNames: ['network', 'chain', 'outcome'],
      registers,
    }),
    entries: new Counter({
      name: 'clusterd_journal_entries_total',
      help: 'Chain entries appended to the journal',
      labelNames: ['network'],
      registers,
    }),
    payments: new Counter({
      name: 'clusterd_payments_total',
      help: 'Confirmed payments on Solana',
      labelNames: ['network'],
      registers,
    }),
    rpcFaults: new Counter({
      name: 'clusterd_rpc_faults_total',
      help: 'RPC calls that failed, by class of fault',
      labelNames: ['chain', 'fault'],
      registers,
    }),
    requests: new Histogram({
      name: 'clusterd_http_request_seconds',
      help: 'API requests by route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15],
      registers,
    }),
    headBlock: gauge('clusterd_chain_head_block', 'Newest block of the chain', () => refresh(metrics)),
    confirmedBlock: gauge('clusterd_chain_confirmed_block', 'Newest confirmed block'),
    nextBlock: gauge('clusterd_chain_next_block', 'First block that is not yet in the journal'),
    halted: gauge(
      'clusterd_chain_halted',
      '1 while indexing of the chain is stopped, because a confirmed block was replaced',
    ),
  }
  return metrics
}
