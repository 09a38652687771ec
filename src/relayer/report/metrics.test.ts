import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import type { OpenJobs } from '../../db/outbox/stats.js'
import { createOutboxMetrics } from '../../ops/outboxMetrics.js'
import type { EvmRelayerState } from '../evmRelayer.js'
import { type OutboxState, showOutbox } from './metrics.js'

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

const relayer = (change: Partial<EvmRelayerState> = {}): EvmRelayerState => ({
  ...{ network, signer: null, chain: '1', stats: null, stuck: null, nonceGaps: 0, nonceClaimed: null },
  ...{ balance: null, runwayMs: null, ...change },
})
const counted = (...open: OpenJobs[]) => ({ open, spentLastDayWei: 0n, signedTodayWei: 7n, isDry: false })
const jobs = (kind: OpenJobs['kind'], state: OpenJobs['state'], count: number, oldestMs: number): OpenJobs => ({
  ...{ kind, state, count, oldestMs },
})

it('the gauges of jobs count those of all chains, each kind and state, the oldest with its age', async () => {
  const open = [jobs('execute', 'queued', 4, 40_000), jobs('execute', 'parked', 1, 10_000)]
  const { samplesOf } = measuring({
    relayers: [relayer(), relayer({ stats: counted(open[0]!) }), relayer({ stats: counted(...open) })],
    payer: { network, balance: null, stats: { open: [jobs('settle', 'sent', 2, NOW + 9)], owed: NOTHING } },
  })
  const count = await samplesOf('clusterd_outbox_jobs')
  expect(count).toMatchObject({ 'execute queued': 8, 'execute parked': 1, 'execute sent': 0, 'settle sent': 2 })
  // a clock behind the database's gives no negative age
  const oldest = { 'execute queued': 60, 'execute parked': 90, 'settle sent': 0 }
  expect(await samplesOf('clusterd_outbox_oldest_seconds')).toMatchObject(oldest)
  expect(await measuring({ relayers: [relayer()] }).samplesOf('clusterd_outbox_jobs')).toEqual({})
})
