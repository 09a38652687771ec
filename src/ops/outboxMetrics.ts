import { Counter, Gauge, type Registry } from 'prom-client'

/** Metrics of the relayer's outbox. */
export interface OutboxMetrics {
  steps: Counter<'network' | 'kind' | 'outcome'>
  jobs: Gauge<'network' | 'kind' | 'state'>
  oldest: Gauge<'network' | 'kind' | 'state'>
  stuck: Gauge<'network'>
  nonceGaps: Gauge<'network' | 'chain'>
  balance: Gauge<'network' | 'chain'>
  runway: Gauge<'network' | 'chain'>
  refundsOwed: Gauge<'network'>
  authorityBalance: Gauge<'network'>
}

/** Creates the outbox's metrics. @param refresh sets the gauges just before they are read */
export function createOutboxMetrics(registry: Registry, refresh: (metrics: OutboxMetrics) => void): OutboxMetrics {
  const registers = [registry]
  const network = ['network'] as const
  const job = ['network', 'kind', 'state'] as const
  const chain = ['network', 'chain'] as const
  const metrics: OutboxMetrics = {
    steps: new Counter({
      name: 'clusterd_outbox_steps_total',
      help: 'Steps of jobs that changed something, or failed to, by outcome; `replaced` counts transactions sent again with higher fees',
      labelNames: ['network', 'kind', 'outcome'],
      registers,
    }),
    jobs: new Gauge({
      name: 'clusterd_outbox_jobs',
      help: 'Jobs that have not ended, by kind and state; `parked` ones wait for an operator',
      labelNames: job,
      registers,
      collect: () => refresh(metrics),
    }),
    oldest: new Gauge({
      name: 'clusterd_outbox_oldest_seconds',
      help: 'Age of the oldest job of each kind and state, 0 where there is none',
      labelNames: job,
      registers,
    }),
    stuck: new Gauge({
      name: 'clusterd_stuck_packets',
      help: 'Packets confirmed at their source that the hub has not received in the configured time',
      labelNames: network,
      registers,
    }),
    nonceGaps: new Gauge({
      name: 'clusterd_relayer_nonce_gaps',
      help: "Nonces of the relayer's signer that nothing under way holds and that block later ones",
      labelNames: chain,
      registers,
    }),
    balance: new Gauge({
      name: 'clusterd_relayer_balance_wei',
      help: "Balance of the relayer's signer",
      labelNames: chain,
      registers,
    }),
    runway: new Gauge({
      name: 'clusterd_relayer_runway_seconds',
      help: 'How long the balance lasts if as much is spent as in the last 24 hours, +Inf while nothing was',
      labelNames: chain,
      registers,
    }),
    refundsOwed: new Gauge({
      name: 'clusterd_refunds_owed',
      help: 'Payments on Solana that are owed back and have no refund queued',
      labelNames: network,
      registers,
    }),
    authorityBalance: new Gauge({
      name: 'clusterd_relay_authority_lamports',
      help: 'Balance of the relay authority on Solana',
      labelNames: network,
      registers,
    }),
  }
  return metrics
}
