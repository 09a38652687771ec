import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import type { JobRow } from '../../db/outbox/rows.js'
import type { OpenJobs } from '../../db/outbox/stats.js'
import { createOutboxMetrics } from '../../ops/outboxMetrics.js'
import { newJob } from '../machine/job.js'
import type { RelayerState } from '../relayer.js'
import type { Outcome } from '../step.js'
import { countOutcome, type OutboxState, showOutbox } from './metrics.js'

const network = 'mainnet'
const NOW = 100_000

function measuring() {
  const registry = new Registry()
  const metrics = createOutboxMetrics(registry, () => {})
  /** Samples of one metric, by their labels but the network. */
  const samplesOf = async (name: string): Promise<Record<string, number>> => {
    const { values } = await registry.getSingleMetric(name)!.get()
    return Object.fromEntries(
      values.map(({ labels: { network: of, ...labels }, value }) => {
        expect(of).toBe(network)
        return [Object.values(labels).join(' '), value]
      }),
    )
  }
  return { metrics, samplesOf }
}

const relayer = (change: Partial<RelayerState> = {}): RelayerState => ({
  ...{
    network,
    signer: null,
    chain: '1',
    stats: null,
    stuck: null,
    nonceGaps: 0,
    nonceClaimed: null,
    balanceWei: null,
    runwayMs: null,
  },
  ...change,
})
const counted = (...open: OpenJobs[]) => ({
  open,
  spentLastDayWei: 0n,
  signedTodayWei: 7n,
  isDry: false,
})
const jobs = (kind: OpenJobs['kind'], state: OpenJobs['state'], count: number, oldestMs: number): OpenJobs => ({
  ...{ kind, state, count, oldestMs },
})

async function shown(change: Partial<OutboxState>) {
  const { metrics, samplesOf } = measuring()
  showOutbox(metrics, { network, relayers: [], payer: null, ...change }, NOW)
  return samplesOf
}

describe('the gauges of a chain', () => {
  it('are its gaps, balance and runway', async () => {
    const samplesOf = await shown({
      relayers: [
        relayer({ nonceGaps: 2, nonceClaimed: 99, balanceWei: 5n, runwayMs: 90_000, stuck: 3 }),
        relayer({ chain: '10', balanceWei: 7n }),
        relayer({ chain: '11', nonceGaps: 1 }),
      ],
    })
    expect(await samplesOf('clusterd_relayer_nonce_gaps')).toEqual({ 1: 2, 10: 0, 11: 1 })
    expect(await samplesOf('clusterd_relayer_balance_wei')).toEqual({ 1: 5, 10: 7 })
    expect(await samplesOf('clusterd_relayer_runway_seconds')).toEqual({ 1: 90, 10: Number.POSITIVE_INFINITY })
  })

  it('count stuck messages of the one to which they are carried', async () => {
    const samplesOf = await shown({ relayers: [relayer({ stuck: 3 }), relayer({ chain: '10' })] })
    expect(await samplesOf('clusterd_stuck_packets')).toEqual({ '': 3 })
    const none = await shown({ relayers: [relayer()] })
    expect(await none('clusterd_stuck_packets')).toEqual({})
  })
})

describe('the gauges of jobs', () => {
  const ofKind = (kind: string, samples: Record<string, number>) =>
    Object.fromEntries(Object.entries(samples).filter(([labels]) => labels.startsWith(`${kind} `)))
  const none = (kind: string) =>
    Object.fromEntries(['queued', 'signed', 'sent', 'included', 'parked'].map((state) => [`${kind} ${state}`, 0]))

  it('count those of all chains once, each kind and state, the oldest with its age', async () => {
    const open = [jobs('execute', 'queued', 4, 40_000), jobs('execute', 'parked', 1, 10_000)]
    const samplesOf = await shown({
      relayers: [relayer(), relayer({ stats: counted(...open) }), relayer({ stats: counted(...open) })],
      payer: { network, balanceLamports: null, stats: { open: [jobs('settle', 'sent', 2, NOW + 9)], owed: NOTHING } },
    })
    const count = await samplesOf('clusterd_outbox_jobs')
    expect(ofKind('execute', count)).toEqual({ ...none('execute'), 'execute queued': 4, 'execute parked': 1 })
    expect(ofKind('settle', count)).toEqual({ ...none('settle'), 'settle sent': 2 })
    expect(ofKind('noop', count)).toEqual(none('noop'))
    const oldest = await samplesOf('clusterd_outbox_oldest_seconds')
    expect(ofKind('execute', oldest)).toEqual({ ...none('execute'), 'execute queued': 60, 'execute parked': 90 })
    // a clock behind the database's gives no negative age
    expect(ofKind('settle', oldest)).toEqual(none('settle'))
  })

  it('are those of either family alone too', async () => {
    const evm = await shown({ relayers: [relayer({ stats: counted(jobs('verify', 'sent', 2, 0)) })] })
    expect(await evm('clusterd_outbox_jobs')).toMatchObject({ 'verify sent': 2 })
    const solana = await shown({
      payer: { network, balanceLamports: null, stats: { open: [jobs('refund', 'queued', 3, 0)], owed: NOTHING } },
    })
    expect(await solana('clusterd_outbox_jobs')).toMatchObject({ 'refund queued': 3, 'verify sent': 0 })
  })

  it('are none before anybody has counted', async () => {
    const samplesOf = await shown({ relayers: [relayer()], payer: { network, balanceLamports: null, stats: null } })
    expect(await samplesOf('clusterd_outbox_jobs')).toEqual({})
  })
})

const NOTHING = { count: 0, lamports: 0n }

it('the gauges of the authority are its balance and the refunds it owes', async () => {
  const stats = { open: [], owed: { count: 3, lamports: 9n } }
  const rich = await shown({ payer: { network, balanceLamports: 77n, stats } })
  expect(await rich('clusterd_relay_authority_lamports')).toEqual({ '': 77 })
  expect(await rich('clusterd_refunds_owed')).toEqual({ '': 3 })
  const unknown = await shown({ payer: { network, balanceLamports: null, stats: null } })
  for (const name of ['clusterd_relay_authority_lamports', 'clusterd_refunds_owed'])
    expect(await unknown(name)).toEqual({})
})

it('steps are counted by outcome, but looks that changed nothing', async () => {
  const { metrics, samplesOf } = measuring()
  const row: JobRow = {
    ...{ ...newJob('7', 'refund'), network, chain: 3, signer: null, subject: null, createdMs: 0, updatedMs: 0 },
    ...{ version: 1, message: null, payment: null, batch: null, followers: [] },
  }
  const outcomes: Outcome['outcome'][] = ['sent', 'waiting', 'failed', 'ended', 'sent', 'unreachable', 'stale']
  for (const outcome of outcomes) countOutcome(metrics, row, { outcome })
  expect(await samplesOf('clusterd_outbox_steps_total')).toEqual({
    ...{ 'refund sent': 2, 'refund failed': 1, 'refund unreachable': 1, 'refund stale': 1 },
  })
})
