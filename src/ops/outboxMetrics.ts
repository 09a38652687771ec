import type { Registry } from 'prom-client'
import { makersOf } from './makers.js'

export type OutboxMetrics = ReturnType<typeof createOutboxMetrics>

/** Creates the outbox's metrics. @param refresh sets the gauges just before they are read */
export function createOutboxMetrics(registry: Registry, refresh: () => void) {
  const { gauge } = makersOf(registry)
  const network = ['network'] as const
  const job = ['network', 'kind', 'state'] as const
  const chain = ['network', 'chain'] as const
  return {
    jobs: gauge(
      'clusterd_outbox_jobs',
      'Jobs that have not ended, by kind and state; `parked` ones wait for an operator, dust that is left to its payers is not counted',
      job,
      refresh,
    ),
    oldest: gauge('clusterd_outbox_oldest_seconds', 'Age of the oldest job of each kind and state, else 0', job),
    stuck: gauge(
      'clusterd_stuck_packets',
      'Packets confirmed at their source that the hub has not received in the configured time',
      network,
    ),
    nonceGaps: gauge(
      'clusterd_relayer_nonce_gaps',
      "Nonces of the relayer's signer that nothing under way holds and that block later ones",
      chain,
    ),
    nonceClaims: gauge(
      'clusterd_relayer_nonce_claims',
      "1 while the signer's transaction count is so far above the stored nonce that an operator has to confirm it",
      chain,
    ),
    balance: gauge('clusterd_relayer_balance_wei', "Balance of the relayer's signer", chain),
    signedToday: gauge('clusterd_relayer_signed_today_wei', 'Most that today’s (UTC) signatures may cost', chain),
    runway: gauge(
      'clusterd_relayer_runway_seconds',
      'How long the balance lasts if as much is spent as in the last 24 hours, +Inf while nothing was, 0 while a job waits for funds',
      chain,
    ),
    authorityBalance: gauge('clusterd_relay_authority_lamports', 'Balance of the relay authority on Solana', network),
  }
}
