import { expect, it } from 'vitest'
import {
  policy,
  prepared,
  queued,
  seen,
  sent,
  signed,
  txOf,
} from '../../../test/model/nonceJobs.js'
import { newJob } from '../../../test/support/newJob.js'
import type { MinedReceipt } from '../../chains/evm/jobView.js'
import type { EvmJobTx } from '../../registry/outbox.js'
import { applyJobEvent, type EvmJobSnapshot } from './index.js'
import { type EvmJob, parkJobOnceUnmineable } from './job.js'
import { planEvmJobStep } from './nonce.js'

/** What a chain's only node reports. */
const said = (change: Partial<EvmJobSnapshot>): EvmJobSnapshot =>
  seen({ isSure: false, prepared, ...change })
const mined: MinedReceipt = {
  hash: '0x1',
  block: 49,
  succeeded: true,
  isConfirmed: true,
  feeWei: 500n,
}
/** The job after the next step. */
function after(job: EvmJob, seen: EvmJobSnapshot): EvmJob {
  const action = planEvmJobStep(job, seen, policy)
  if (action.do !== 'record') throw new Error(action.do)
  return applyJobEvent(job, action.event, seen)
}

it.each([
  ['queued', queued, said({ done: 'confirmed' })],
  ['sent, its nonce used by another', sent, said({ done: 'confirmed', nonce: 'confirmed' })],
  [
    'sent, and done by another',
    sent,
    said({ done: 'confirmed', mined: { ...mined, succeeded: false } }),
  ],
])('a single node has to say twice, at some distance, that a job is done: %s', (_, job, seen) => {
  let once = after(job, seen)
  // an inclusion is stored first
  if (once.state === 'included') once = after(once, seen)
  expect(once).toMatchObject({ reason: 'said_to_be_done', nextMs: expect.any(Number) })
  expect(once.state).not.toBe('confirmed')
  expect(planEvmJobStep(once, seen, policy)).toMatchObject({ do: 'wait' })
  expect(after(once, { ...seen, nowMs: once.nextMs })).toMatchObject({
    state: 'confirmed',
    reason: null,
  })
})

it('a wrong answer that is not repeated ends no job', () => {
  const once = after(queued, said({ done: 'confirmed' }))
  expect(planEvmJobStep(once, said({ nowMs: once.nextMs }), policy)).toMatchObject({
    do: 'sign',
    purpose: 'deliver',
  })
})

it('no transaction is cancelled because of a single report', () => {
  expect(planEvmJobStep(sent, said({ done: 'confirmed', head: 90 }), policy)).toMatchObject({
    do: 'wait',
  })
})

it('a signed transaction does not delay later nonces while only one node reports the job as done', () => {
  const done = said({ done: 'confirmed', nonce: 'next' })
  // the process stopped between signing and sending, and somebody else did the job meanwhile
  expect(planEvmJobStep(signed, done, policy)).toEqual({ do: 'broadcast', tx: signed.txs[0] })
  // the node dropped the transaction, or its fee is below the base fee
  expect(planEvmJobStep(sent, { ...done, head: 150 }, policy)).toMatchObject({ do: 'wait' })
  const late = { ...done, head: 151 }
  expect(planEvmJobStep(sent, late, policy)).toMatchObject({
    do: 'sign',
    purpose: 'deliver',
    nonce: 3,
  })
  const failed = after(sent, {
    ...late,
    prepared: { failure: { class: 'revert', reason: 'reverted' } },
  })
  expect(planEvmJobStep(failed, late, policy)).toMatchObject({
    do: 'sign',
    purpose: 'cancel',
    nonce: 3,
  })
})

it('a noop is sent and replaced after a single report, since a wrong one does no harm', () => {
  const cancel = txOf(1, { purpose: 'cancel', valueWei: 0n })
  const noop: EvmJob = {
    ...newJob<EvmJobTx>('n', 'noop'),
    state: 'signed',
    nonce: 3,
    txs: [cancel],
  }
  expect(planEvmJobStep(noop, said({ done: 'confirmed' }), policy)).toEqual({
    do: 'broadcast',
    tx: cancel,
  })
  const old: EvmJob = { ...noop, state: 'sent', txs: [{ ...cancel, sentBlock: 47 }] }
  expect(planEvmJobStep(old, said({ done: 'confirmed' }), policy)).toMatchObject({
    do: 'sign',
    purpose: 'cancel',
  })
})

it('a receipt is stored before it ends its job', () => {
  const once = after(sent, said({ mined, nonce: 'confirmed' }))
  expect(once).toMatchObject({ state: 'included', included: { hash: '0x1', block: 49 } })
  expect(after(once, said({ mined, nonce: 'confirmed' }))).toMatchObject({
    state: 'confirmed',
    spentWei: 500n,
  })
})

/** A wrong newest block, which a node returned once when it accepted the transaction. */
const ABSURD = 0xffffffffff
/** A month later: the node has dropped the transaction, whose nonce is the signer's next one. */
const later = seen({ head: 200_000, prepared })
const absurd = applyJobEvent(signed, { is: 'sent', hash: '0x1' }, { ...later, head: ABSURD })

it('one absurd head at the time of sending does not make a job wait endlessly', () => {
  expect(planEvmJobStep(absurd, later, policy).do).not.toBe('wait')
  const resent = applyJobEvent(absurd, { is: 'sent', hash: '0x1' }, later)
  expect(planEvmJobStep(resent, { ...later, head: later.head + 2 }, policy)).toMatchObject({
    do: 'sign',
  })
})

it('one absurd head does not prevent a cancel on the operator’s request', () => {
  expect(planEvmJobStep(parkJobOnceUnmineable(absurd), later, policy)).toMatchObject({
    do: 'sign',
    purpose: 'cancel',
  })
})

it('one absurd head does no harm where the transaction is refused for its fees when sent again', () => {
  const refused = applyJobEvent(absurd, { is: 'refused', hash: '0x1', reason: 'refused' }, later)
  const after = { ...later, nowMs: refused.nextMs }
  const rich = { ...policy, spendCapWei: 10n ** 12n }
  expect(planEvmJobStep(refused, after, rich)).toMatchObject({ do: 'sign', purpose: 'deliver' })
  // below the base fee, and a replacement is above the cap
  const dear = {
    ...after,
    prepared: { ...prepared, fees: { maxFeePerGas: 1_000n, maxPriorityFeePerGas: 10n } },
  }
  const event = { is: 'failed', failure: { reason: 'fees_above_cap' } }
  expect(planEvmJobStep(refused, dear, { ...policy, spendCapWei: 500_000n })).toMatchObject({
    do: 'record',
    event,
  })
})

it('a node may have been ahead by some blocks when it took a transaction', () => {
  const ahead = applyJobEvent(
    signed,
    { is: 'sent', hash: '0x1' },
    { ...later, head: later.head + 100 },
  )
  expect(planEvmJobStep(ahead, later, policy)).toMatchObject({ do: 'wait' })
  expect(planEvmJobStep(ahead, { ...later, head: later.head - 1 }, policy)).toMatchObject({
    do: 'broadcast',
  })
})
