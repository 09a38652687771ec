import { afterEach, describe, expect, it } from 'vitest'
import {
  findDueEvmJobs,
  findDueSolanaJobs,
  MAX_EVM_JOBS_PER_STEP,
} from '../../src/db/outbox/due.js'
import { RELEASE_HOLDING_TIME_SHARE } from '../../src/db/outbox/payouts.js'
import { countOpenJobs } from '../../src/db/outbox/stats.js'
import { DAY_MS, OLD_JOB_ALARM_MS, PAYMENT_TIME_USED_ALARM_SHARE } from '../../src/ops/alarms.js'
import { JOB_KIND, JOB_STATE, type JobKind, type JobState } from '../../src/registry/outbox.js'
import { useDatabase } from '../support/database.js'

/** Settlements and releases near their deadline come first, and the share of their time that has passed is shown. */

const database = useDatabase()
const CHAIN = { network: 'mainnet', chain: 1 } as const
const NOW_MS = 100 * DAY_MS
const WEEK_MS = 7 * DAY_MS

afterEach(async () => {
  await database.pool.query('TRUNCATE jobs, payments')
})

interface Stored {
  kind: JobKind
  /** Share of the week that the payment has been held. */
  share: number
  state?: JobState
  nonce?: number
  outcome?: number
  count?: number
}

/** Stores payments, each with a job. */
async function store({ kind, share, count = 1, ...rest }: Stored): Promise<void> {
  const { state = 'queued', nonce = null, outcome = null } = rest
  const isName = kind === 'settle' || kind === 'refund'
  const paidMs = Math.round(NOW_MS - share * WEEK_MS)
  await database.pool.query(
    `INSERT INTO payments (network, id, kind, chain, state, tx, block, sequence, payer, token, amount, name_word, source, quote_id,
       amount_wei, expires_at, verdict, community_word, recipient, number, paid_ms, reclaimable_ms, outcome)
     SELECT 0, sha256(($1 || i)::bytea), $2, 1, 2, '\\x01', i, i, '\\x01', 'native', 1, '\\x01', '\\x01', '\\x01',
       1, 1, 1, '\\x01', 'r', 1, $3, $4, $5 FROM generate_series(1, $6) i`,
    [`${kind}${share}`, isName ? 1 : 2, paidMs, paidMs + WEEK_MS, outcome, count],
  )
  await database.pool.query(
    `INSERT INTO jobs (network, kind, chain, subject, state, txs, signer, nonce, created_ms, updated_ms)
     SELECT 0, $2, 1, sha256(($1 || i)::bytea), $3, CASE WHEN $4::int IS NULL THEN '[]' ELSE '[{}]' END::jsonb, CASE WHEN $4::int IS NOT NULL THEN '\\x07'::bytea END, $4, 1, 1 FROM generate_series(1, $5) i`,
    [`${kind}${share}`, JOB_KIND[kind], JOB_STATE[state], nonce, count],
  )
}

const shown = (rows: readonly { kind: JobKind; payment: { paidMs: number } | null }[]) =>
  rows.map(({ kind, payment }) => `${kind} ${((NOW_MS - payment!.paidMs) / WEEK_MS).toFixed(2)}`)

describe('on an EVM chain', () => {
  it('a release comes after jobs that hold a nonce, and before all other jobs', async () => {
    await store({ kind: 'refuse', share: 0.95, count: MAX_EVM_JOBS_PER_STEP })
    await store({ kind: 'release', share: 0.79 })
    await store({ kind: 'release', share: 0.81 })
    await store({ kind: 'refuse', share: 0.5, state: 'sent', nonce: 4 })
    const due = shown(await findDueEvmJobs(database.pool, CHAIN, NOW_MS))
    expect(due).toHaveLength(MAX_EVM_JOBS_PER_STEP)
    expect(due.slice(0, 3)).toEqual(['refuse 0.50', 'release 0.81', 'refuse 0.95'])
    expect(due).not.toContain('release 0.79')
  })

  it('jobs without a payment keep their order', async () => {
    await store({ kind: 'deliver', share: 0.1 })
    await store({ kind: 'release', share: 0.9 })
    await database.pool.query('DELETE FROM payments')
    const due = await findDueEvmJobs(database.pool, CHAIN, NOW_MS)
    expect(due.map(({ kind }) => kind)).toEqual(['deliver', 'release'])
  })
})

describe('on Solana', () => {
  it.each(['settle', 'release'] as const)(
    'a %s comes before any number of refusals and of older refunds',
    async (kind) => {
      await store({ kind: 'refuse', share: 0.95, count: 201 })
      await store({ kind: 'refund', share: 0.96, count: 201 })
      await store({ kind, share: 0.79 })
      await store({ kind, share: 0.81 })
      await store({ kind, share: 0.82 })
      const due = shown(await findDueSolanaJobs(database.pool, CHAIN, NOW_MS))
      expect(due.slice(0, 3)).toEqual([`${kind} 0.82`, `${kind} 0.81`, 'refuse 0.95'])
      expect(due).toContain('refund 0.96')
      expect(new Set(due).size, 'each job once').toBe(4)
      expect(due.filter((one) => one === `${kind} 0.81`)).toHaveLength(1)
    },
  )

  it('jobs with enough time come after refusals, by the age of their payment', async () => {
    await store({ kind: 'settle', share: 0.2 })
    await store({ kind: 'refund', share: 0.9 })
    await store({ kind: 'refuse', share: 0.1 })
    const due = shown(await findDueSolanaJobs(database.pool, CHAIN, NOW_MS))
    expect(due).toEqual(['refuse 0.10', 'refund 0.90', 'settle 0.20'])
  })
})

describe('the share of its time that a payment has been held', () => {
  const shareOf = async (kind: JobKind) =>
    (await countOpenJobs(database.pool, CHAIN, NOW_MS)).find((jobs) => jobs.kind === kind)
      ?.heldShare

  it.each(['settle', 'release'] as const)(
    'is that of the oldest held payment: %s',
    async (kind) => {
      await store({ kind, share: 0.5 })
      await store({ kind, share: 0.85 })
      // its payer has reclaimed it
      await store({ kind, share: 1.5, outcome: 3 })
      expect(await shareOf(kind)).toBeCloseTo(0.85)
    },
  )

  it.each(['refund', 'refuse', 'deliver'] as const)(
    'is not counted where the payer gets the money back anyway: %s',
    async (kind) => {
      await store({ kind, share: 0.9 })
      expect(await shareOf(kind)).toBeNull()
    },
  )

  it('counts while the job is parked', async () => {
    await store({ kind: 'settle', share: 0.9, state: 'parked' })
    expect(await shareOf('settle')).toBeCloseTo(0.9)
  })

  it('raises its alarm later than a waiting job’s, by the shortest time that contracts allow', () => {
    expect(RELEASE_HOLDING_TIME_SHARE * DAY_MS + OLD_JOB_ALARM_MS).toBeLessThan(
      PAYMENT_TIME_USED_ALARM_SHARE * DAY_MS,
    )
  })
})
