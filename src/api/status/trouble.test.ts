import { describe, expect, it } from 'vitest'
import type { UnfinishedJob } from '../../db/outbox/unfinishedJob.js'
import { jobTrouble, undeliveredTrouble } from './trouble.js'

const SINCE_MS = Date.UTC(2026, 10, 20, 8)
const SINCE_TEXT = '2026-11-20 08:00:00.000+00'
const createJob = (changes: Partial<UnfinishedJob>): UnfinishedJob => ({
  kind: 'execute',
  isParked: false,
  reason: 'reverted',
  createdMs: SINCE_MS,
  ...changes,
})
const MINUTE_MS = 60_000

describe('the trouble of a job', () => {
  it.each<[string, Partial<UnfinishedJob>, string]>([
    [
      'a delivery that is tried again',
      {},
      'The delivery to the hub has not succeeded yet. The service tries again automatically. Do not pay again.',
    ],
    [
      'a delivery that waits for the operator',
      { isParked: true, reason: 'spend_cap' },
      'The delivery to the hub has stopped, and waits for the operator of the service. It costs more than the service pays for one transaction. Do not pay again.',
    ],
    [
      'a refund that is tried again',
      { kind: 'refuse', reason: 'gas_price_above_cap' },
      'The refund has not succeeded yet. The service tries again automatically. Gas costs more at present than the service pays. Do not pay again.',
    ],
  ])('%s', (_, changes, text) => {
    expect(jobTrouble(createJob(changes))).toEqual({ text, since: SINCE_TEXT })
  })

  it.each(['insufficient_funds', 'daily_cap', 'signer_unreachable', 'rate_limited'])(
    'says nothing of what only the operator may know: %s',
    (reason) => {
      expect(jobTrouble(createJob({ reason }))).toEqual(jobTrouble(createJob({})))
    },
  )

  it('does not exist while nothing has failed, nor for a refund of dust', () => {
    expect(jobTrouble(null)).toBeNull()
    expect(jobTrouble(createJob({ reason: null }))).toBeNull()
    expect(jobTrouble(createJob({ kind: 'refuse', reason: 'below_refusal_cost' }))).toBeNull()
  })
})

it('a payment that nobody has begun to deliver is trouble after ten minutes', () => {
  expect(undeliveredTrouble(SINCE_MS, SINCE_MS + 10 * MINUTE_MS - 1)).toBeNull()
  expect(undeliveredTrouble(SINCE_MS, SINCE_MS + 10 * MINUTE_MS)).toEqual({
    text: 'The service has not begun the delivery to the hub. Do not pay again.',
    since: SINCE_TEXT,
  })
})
