import type { Registry } from 'prom-client'
import type { OpenJobs } from '../db/outbox/stats.js'
import { metricFactories } from '../ops/metricFactories.js'
import { JOB_KIND, JOB_STATE } from '../registry/outbox.js'
import { type EvmRelayerState, isEvmState } from './evmRelayer.js'
import type { OutboxState } from './report.js'

const KINDS = Object.keys(JOB_KIND)
const STATES = Object.keys(JOB_STATE).filter((state) => state !== 'confirmed')

/** @param states the outboxes that this process may lead */
export function createOutboxMetrics(
  registry: Registry,
  states: () => readonly OutboxState[],
): void {
  const { gauge } = metricFactories(registry)
  const ofJobs = (name: string, help: string, read: (jobs: readonly OpenJobs[]) => number) =>
    gauge(name, help, ['network', 'kind', 'state'], () =>
      states().flatMap(({ network, relayers }) => {
        const counted = relayers.flatMap(({ stats }) => (stats ? [stats.open] : []))
        if (counted.length === 0) return []
        const of = (kind: string, state: string) =>
          counted.flat().filter((jobs) => jobs.kind === kind && jobs.state === state)
        return KINDS.flatMap((kind) =>
          STATES.map((state) => [{ network, kind, state }, read(of(kind, state))] as const),
        )
      }),
    )
  const ofNetwork = (name: string, help: string, read: (state: OutboxState) => number | null) =>
    gauge(name, help, ['network'], () =>
      states().map((state) => [{ network: state.network }, read(state)]),
    )
  const ofSigner = (name: string, help: string, read: (state: EvmRelayerState) => number | null) =>
    gauge(name, help, ['network', 'chain'], () =>
      states()
        .flatMap(({ relayers }) => relayers.filter(isEvmState))
        .map((state) => [{ network: state.network, chain: state.chain }, read(state)]),
    )
  ofJobs(
    'clusterd_outbox_jobs',
    'Jobs that have not ended, by kind and state; `parked` ones wait for an operator, dust that is left to its payers is not counted',
    (jobs) => jobs.reduce((sum, { count }) => sum + count, 0),
  )
  ofJobs(
    'clusterd_outbox_oldest_seconds',
    'Age of the oldest job of each kind and state, else 0',
    (jobs) => {
      const nowMs = Date.now()
      return (nowMs - Math.min(nowMs, ...jobs.map(({ oldestMs }) => oldestMs))) / 1_000
    },
  )
  ofJobs(
    'clusterd_outbox_held_share',
    'Largest share of the time until its payer may take it back for which a payment with an open settlement or release has been held, else 0',
    (jobs) => Math.max(0, ...jobs.map(({ heldShare }) => heldShare ?? 0)),
  )
  ofNetwork(
    'clusterd_refused_names',
    'Payments that were refused though their names are registered, until their payers could have taken them back',
    ({ relayers }) => relayers.reduce((sum, one) => sum + one.refusedNames, 0),
  )
  ofNetwork(
    'clusterd_stuck_packets',
    'Packets confirmed at their source that the hub has not received in the configured time',
    ({ relayers }) =>
      relayers.filter(isEvmState).find(({ stuck }) => stuck !== null)?.stuck?.length ?? null,
  )
  ofSigner(
    'clusterd_relayer_nonce_gaps',
    "Nonces of the relayer's signer that nothing under way holds and that block later ones",
    ({ nonceGaps }) => nonceGaps,
  )
  ofSigner(
    'clusterd_relayer_nonce_claims',
    "1 while the signer's transaction count is so far above the stored nonce that an operator has to confirm it",
    ({ nonceClaimed }) => Number(nonceClaimed !== null),
  )
  ofSigner('clusterd_relayer_balance_wei', "Balance of the relayer's signer", ({ balance }) =>
    balance === null ? null : Number(balance),
  )
  ofSigner(
    'clusterd_relayer_signed_today_wei',
    'Most that today’s (UTC) signatures may cost',
    ({ stats }) => stats && Number(stats.signedTodayWei),
  )
  ofSigner(
    'clusterd_relayer_runway_seconds',
    'How long the balance lasts if as much is spent as in the last 24 hours, +Inf while nothing was, 0 while a job waits for funds',
    ({ balance, runwayMs }) => {
      if (balance === null) return null
      return runwayMs === null ? Number.POSITIVE_INFINITY : runwayMs / 1_000
    },
  )
  ofNetwork(
    'clusterd_relay_authority_lamports',
    'Balance of the relay authority on Solana',
    ({ relayers }) => {
      const balance = relayers.find(({ expiry }) => expiry === 'blockhash')?.balance ?? null
      return balance === null ? null : Number(balance)
    },
  )
}
