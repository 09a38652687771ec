import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Prometheus metrics of the daemon. No label holds an address, a name or a key. */
export type Metrics = ReturnType<typeof createMetrics>

/** Makes the metrics. @param refresh sets the gauges just before they are read */
export function createMetrics(refresh: () => void = () => {}) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const { counter, gauge } = makersOf(registry)
  const chain = ['network', 'chain'] as const
  return {
    registry,
    steps: counter('clusterd_indexer_steps_total', 'Indexer steps by outcome', [...chain, 'outcome']),
    entries: counter('clusterd_journal_entries_total', 'Chain entries appended to the journal', ['network']),
    payments: counter('clusterd_payments_total', 'Confirmed payments on Solana', ['network']),
    rpcFaults: counter('clusterd_rpc_faults_total', 'RPC calls that failed, by class of fault', ['chain', 'fault']),
    requests: new Histogram({
      name: 'clusterd_http_request_seconds',
      help: 'API requests by route and status',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 15],
      registers: [registry],
    }),
    headBlock: gauge('clusterd_chain_head_block', 'Newest block of the chain', chain, refresh),
    confirmedBlock: gauge('clusterd_chain_confirmed_block', 'Newest confirmed block', chain),
    nextBlock: gauge('clusterd_chain_next_block', 'First block that is not yet in the journal', chain),
    halted: gauge(
      'clusterd_chain_halted',
      '1 while indexing of the chain is stopped, because a confirmed block was replaced',
      chain,
    ),
  }
}

/** Makers of a registry's metrics. */
export function makersOf(registry: Registry) {
  const registers = [registry]
  return {
    counter: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    /** @param collect runs just before the metrics are read */
    gauge: <Label extends string>(name: string, help: string, labelNames: readonly Label[], collect?: () => void) =>
      new Gauge({ name, help, labelNames, registers, ...(collect ? { collect } : {}) }),
  }
}
