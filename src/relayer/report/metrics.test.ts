import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { JobRow } from '../../db/outbox/rows.js'
import type { OpenJobs } from '../../db/outbox/stats.js'
import { createOutboxMetrics } from '../../ops/outboxMetrics.js'
import { newJob } from '../machine/job.js'
import type { RelayerState } from '../relayer.js'
import { countOutcome, type OutboxState, showOutbox } from './metrics.js'

const network = 'mainnet'
const NOW = 100_000
const NOTHING = { count: 0, lamports: 0n }

function measuring(change: Partial<OutboxState> = {}) {
  const registry = new Registry()
  const metrics = createOutboxMetrics(registry, () => {})
  showOutbox(metrics, { network, relayers: [], payer: null, ...change }, NOW)
  /** Samples of one metric, by their labels but the network. */
  const samplesOf = async (name: string): Promise<Record<string, number>> => {
    const { values } = await registry.getSingleMetric(name)!.get()
    return Object.fromEntries(
      values.map(({ labels: { network: _, ...labels }, value }) => [Object.values(labels).join(' '), value]),
    )
  }
  return { metrics, samplesOf }
}

const relayer = (change: Partial<RelayerState> = {}): RelayerState => ({
  ...{ network, signer: null, chain: '1', stats: null, stuck: null, nonceGaps: 0, nonceClaimed: null },
  ...{ balanceWei: null, runwayMs: null, ...change },
})
const counted = (...open: OpenJobs[]) => ({ open, spentLastDayWei: 0n, signedTodayWei: 7n, isDry: false })
const jobs = (kind: OpenJobs['kind'], state: OpenJobs['state'], count: number, oldestMs: number): OpenJobs => ({
  ...{ kind, state, count, oldestMs },
})

it('the gauges of a chain are its gaps, balance, runway and stuck messages', async () => {
  const { samplesOf } = measuring({
    relayers: [
      relayer({ nonceGaps: 2, balanceWei: 5n, runwayMs: 90_000, stuck: 3 }),
      relayer({ chain: '10', balanceWei: 7n }),
    ],
  })
  expect(await samplesOf('clusterd_relayer_nonce_gaps')).toEqual({ 1: 2, 10: 0 })
  expect(await samplesOf('clusterd_relayer_balance_wei')).toEqual({ 1: 5, 10: 7 })
  expect(await samplesOf('clusterd_relayer_runway_seconds')).toEqual({ 1: 90, 10: Number.POSITIVE_INFINITY })
  expect(await samplesOf('clusterd_stuck_packets')).toEqual({ '': 3 })
})

it('the gauges of jobs count those of all chains once, each kind and state, the oldest with its age', async () => {
  const open = [jobs('execute', 'queued', 4, 40_000), jobs('execute', 'parked', 1, 10_000)]
  const { samplesOf } = measuring({
    relayers: [relayer(), relayer({ stats: counted(...open) }), relayer({ stats: counted(...open) })],
    payer: { network, balanceLamports: null, stats: { open: [jobs('settle', 'sent', 2, NOW + 9)], owed: NOTHING } },
  })
  const count = await samplesOf('clusterd_outbox_jobs')
  expect(count).toMatchObject({ 'execute queued': 4, 'execute parked': 1, 'execute sent': 0, 'settle sent': 2 })
  // a clock behind the database's gives no negative age
  const oldest = { 'execute queued': 60, 'execute parked': 90, 'settle sent': 0 }
  expect(await samplesOf('clusterd_outbox_oldest_seconds')).toMatchObject(oldest)
  expect(await measuring({ relayers: [relayer()] }).samplesOf('clusterd_outbox_jobs')).toEqual({})
})

it('the gauges of the authority are its balance and the refunds it owes, once they are known', async () => {
  const stats = { open: [], owed: { count: 3, lamports: 9n } }
  const { samplesOf } = measuring({ payer: { network, balanceLamports: 77n, stats } })
  expect(await samplesOf('clusterd_relay_authority_lamports')).toEqual({ '': 77 })
  expect(await samplesOf('clusterd_refunds_owed')).toEqual({ '': 3 })
  const unknown = measuring({ payer: { network, balanceLamports: null, stats: null } })
  expect(await unknown.samplesOf('clusterd_relay_authority_lamports')).toEqual({})
})

it('steps are counted by outcome, but looks that changed nothing', async () => {
  const { metrics, samplesOf } = measuring()
  const row = { ...newJob('7', 'refund'), network } as JobRow
  for (const outcome of ['sent', 'waiting', 'failed', 'ended', 'sent'] as const) countOutcome(metrics, row, { outcome })
  expect(await samplesOf('clusterd_outbox_steps_total')).toEqual({ 'refund sent': 2, 'refund failed': 1 })
})
