import type { OpenJobs } from '../../db/outbox/stats.js'
import type { OutboxMetrics } from '../../ops/outboxMetrics.js'
import { JOB_KIND, JOB_STATE } from '../../registry/outbox.js'
import type { Network } from '../../registry/primitives/network.js'
import type { EvmRelayerState } from '../evmRelayer.js'
import type { SolanaRelayerState } from '../solanaRelayer.js'

/** State of a network's outbox in the process that leads it. */
export interface OutboxState {
  network: Network
  relayers: readonly EvmRelayerState[]
  payer: SolanaRelayerState | null
}

/** Sets the gauges of a network's outbox. */
export function showOutbox(metrics: OutboxMetrics, { network, relayers, payer }: OutboxState, nowMs: number): void {
  for (const state of relayers) showRelayer(metrics, state)
  if (payer) {
    if (payer.balance !== null) metrics.authorityBalance.set({ network }, Number(payer.balance))
    if (payer.stats) metrics.refundsOwed.set({ network }, payer.stats.owed.count)
  }
  const counted = [...relayers, payer].flatMap((state) => (state?.stats ? [state.stats.open] : []))
  if (counted.length > 0) showJobs(metrics, network, counted.flat(), nowMs)
}

function showRelayer(metrics: OutboxMetrics, state: EvmRelayerState): void {
  const { network, chain, stats, stuck, nonceGaps, nonceClaimed, balance, runwayMs } = state
  if (stuck !== null) metrics.stuck.set({ network }, stuck.length)
  metrics.nonceGaps.set({ network, chain }, nonceGaps)
  metrics.nonceClaims.set({ network, chain }, nonceClaimed === null ? 0 : 1)
  if (balance === null) return
  if (stats) metrics.signedToday.set({ network, chain }, Number(stats.signedTodayWei))
  metrics.balance.set({ network, chain }, Number(balance))
  metrics.runway.set({ network, chain }, runwayMs === null ? Number.POSITIVE_INFINITY : runwayMs / 1_000)
}

const KINDS = Object.keys(JOB_KIND)
const STATES = Object.keys(JOB_STATE).filter((state) => state !== 'confirmed')

function showJobs(metrics: OutboxMetrics, network: Network, open: readonly OpenJobs[], nowMs: number): void {
  for (const kind of KINDS)
    for (const state of STATES) {
      const same = open.filter((jobs) => jobs.kind === kind && jobs.state === state)
      const oldestMs = Math.min(nowMs, ...same.map((jobs) => jobs.oldestMs))
      metrics.jobs.set(
        { network, kind, state },
        same.reduce((sum, { count }) => sum + count, 0),
      )
      metrics.oldest.set({ network, kind, state }, (nowMs - oldestMs) / 1_000)
    }
}
