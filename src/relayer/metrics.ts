import type { DeliveryRow } from '../db/outbox/deliveryRows.js'
import { PAYOUT_KINDS } from '../db/outbox/payoutRows.js'
import type { DeliveryMetrics } from '../ops/deliveryMetrics.js'
import type { Outcome } from './converge.js'
import type { PayerState } from './payouts/payer.js'
import type { RelayerState } from './relayer.js'

/** Outcomes that are looks without a deed. */
const UNCOUNTED = new Set<Outcome['outcome']>(['waiting', 'ended'])

export function countOutcome(metrics: DeliveryMetrics, { network, kind }: DeliveryRow, { outcome }: Outcome): void {
  if (!UNCOUNTED.has(outcome)) metrics.steps.inc({ network, kind, outcome })
  if (outcome === 'replaced') metrics.bumps.inc({ network })
}

/** Sets the gauges from what the relayers know. */
export function showRelayers(metrics: DeliveryMetrics, states: readonly RelayerState[], nowMs: number): void {
  for (const { network, chain, stats, stranded, nonceGaps, balanceWei, runwayMs } of states) {
    if (stranded !== null) metrics.stranded.set({ network }, stranded)
    metrics.nonceGaps.set({ network, chain }, nonceGaps)
    if (balanceWei !== null) {
      metrics.balance.set({ network, chain }, Number(balanceWei))
      metrics.runway.set({ network, chain }, runwayMs === null ? Number.POSITIVE_INFINITY : runwayMs / 1_000)
    }
    for (const [state, { count, oldestMs }] of Object.entries(stats?.states ?? {})) {
      metrics.deliveries.set({ network, state }, count)
      metrics.oldest.set({ network, state }, oldestMs === null ? 0 : (nowMs - oldestMs) / 1_000)
    }
    metrics.parked.set({ network }, stats?.states.parked.count ?? 0)
  }
}

const OPEN_STATES = ['queued', 'signed', 'sent', 'parked'] as const

/** The same of what is paid out on Solana. */
export function showPayers(metrics: DeliveryMetrics, states: readonly PayerState[], nowMs: number): void {
  for (const { network, stats, balanceLamports } of states) {
    if (balanceLamports !== null) metrics.authorityBalance.set({ network }, Number(balanceLamports))
    if (!stats) continue
    metrics.refundsOwed.set({ network }, stats.owed.count)
    for (const kind of PAYOUT_KINDS)
      for (const state of OPEN_STATES) {
        const open = stats.open.find((one) => one.kind === kind && one.state === state)
        metrics.payouts.set({ network, kind, state }, open?.count ?? 0)
        metrics.oldestPayout.set({ network, kind, state }, open ? (nowMs - open.oldestMs) / 1_000 : 0)
      }
  }
}
