import { Counter, Gauge, type Registry } from 'prom-client'

/** Metrics of the relayer. */
export interface DeliveryMetrics {
  steps: Counter<'network' | 'kind' | 'outcome'>
  bumps: Counter<'network'>
  deliveries: Gauge<'network' | 'state'>
  oldest: Gauge<'network' | 'state'>
  parked: Gauge<'network'>
  stranded: Gauge<'network'>
  nonceGaps: Gauge<'network' | 'chain'>
  balance: Gauge<'network' | 'chain'>
  runway: Gauge<'network' | 'chain'>
  payoutSteps: Counter<'network' | 'kind' | 'outcome'>
  payouts: Gauge<'network' | 'kind' | 'state'>
  oldestPayout: Gauge<'network' | 'kind' | 'state'>
  refundsOwed: Gauge<'network'>
  authorityBalance: Gauge<'network'>
}

/** Makes the relayer's metrics. @param refresh sets the gauges just before they are read */
export function createDeliveryMetrics(
  registry: Registry,
  refresh: (metrics: DeliveryMetrics) => void,
): DeliveryMetrics {
  const registers = [registry]
  const network = ['network'] as const
  const state = ['network', 'state'] as const
  const chain = ['network', 'chain'] as const
  const payout = ['network', 'kind', 'state'] as const
  const metrics: DeliveryMetrics = {
    steps: new Counter({
      name: 'clusterd_delivery_attempts_total',
      help: 'Steps of deliveries that changed something, or failed to, by outcome',
      labelNames: ['network', 'kind', 'outcome'],
      registers,
    }),
    bumps: new Counter({
      name: 'clusterd_delivery_bumps_total',
      help: 'Transactions replaced by one with higher fees',
      labelNames: network,
      registers,
    }),
    deliveries: new Gauge({
      name: 'clusterd_deliveries',
      help: 'Deliveries that have not ended, by state',
      labelNames: state,
      registers,
      collect: () => refresh(metrics),
    }),
    oldest: new Gauge({
      name: 'clusterd_delivery_oldest_seconds',
      help: 'Age of the oldest delivery in each state, 0 when there is none',
      labelNames: state,
      registers,
    }),
    parked: new Gauge({
      name: 'clusterd_parked_deliveries',
      help: 'Deliveries that wait for an operator',
      labelNames: network,
      registers,
    }),
    stranded: new Gauge({
      name: 'clusterd_stranded_packets',
      help: 'Packets confirmed at their source that the hub has not taken in the configured time',
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
    payoutSteps: new Counter({
      name: 'clusterd_payout_steps_total',
      help: 'Changes of settlements, refunds and refusals on Solana, by outcome',
      labelNames: ['network', 'kind', 'outcome'],
      registers,
    }),
    payouts: new Gauge({
      name: 'clusterd_payouts',
      help: 'Settlements, refunds and refusals on Solana that have not ended, by state',
      labelNames: payout,
      registers,
    }),
    oldestPayout: new Gauge({
      name: 'clusterd_payout_oldest_seconds',
      help: 'Age of the oldest settlement, refund and refusal in each state, 0 when there is none',
      labelNames: payout,
      registers,
    }),
    refundsOwed: new Gauge({
      name: 'clusterd_refunds_owed',
      help: 'Payments on Solana that are owed back and that nobody has asked to refund',
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
