import { expect, it } from 'vitest'
import type { Mined } from '../../chains/evm/jobView.js'
import type { NonceTx } from '../../registry/outbox.js'
import { apply, type Policy, REPLACE_AFTER_BLOCKS, type Seen } from './index.js'
import { type NonceJob, newJob } from './job.js'
import { planNonceJob } from './nonce.js'

const NOW = 1_000_000
const fees = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n }
const policy: Policy = {
  ...{ spendCapWei: 10_000_000n, replaceAfterBlocks: REPLACE_AFTER_BLOCKS, pollMs: 1_000, gasPriceCapWei: 10n ** 15n },
}
/** What the only node of a chain says. */
const said = (change: Partial<Seen>): Seen => ({
  ...{ nowMs: NOW, random: 0.5, head: 50, done: 'no', nonce: 'next', mined: null, isSure: false },
  ...{ searched: 0, prepared: { gas: 1_000n, fees } },
  ...change,
})
const tx: NonceTx = {
  ...{ hash: '0x1', raw: '0x11', purpose: 'deliver', gas: 1_000n, valueWei: 7n, ...fees },
  ...{ sentBlock: 50, isRejected: false },
}
const queued = newJob<NonceTx>('d', 'execute', 7n)
const sent: NonceJob = { ...queued, state: 'sent', nonce: 3, txs: [tx] }
const mined: Mined = { hash: '0x1', block: 49, succeeded: true, isConfirmed: true, feeWei: 500n }
/** The job after the next step. */
function after(job: NonceJob, seen: Seen): NonceJob {
  const action = planNonceJob(job, seen, policy)
  if (action.do !== 'record') throw new Error(action.do)
  return apply(job, action.event, seen)
}

it.each([
  ['queued', queued, said({ done: 'confirmed' })],
  ['sent, its nonce used by another', sent, said({ done: 'confirmed', nonce: 'confirmed', searched: 1 })],
  ['sent, and done by another', sent, said({ done: 'confirmed', mined: { ...mined, succeeded: false } })],
])('a single node has to say twice, at some distance, that a job is done: %s', (_, job, seen) => {
  let once = after(job, seen)
  // what is in a block is noted first
  if (once.state === 'included') once = after(once, seen)
  expect(once).toMatchObject({ reason: 'said_to_be_done', nextMs: expect.any(Number) })
  expect(once.state).not.toBe('confirmed')
  expect(planNonceJob(once, seen, policy)).toMatchObject({ do: 'wait', untilMs: once.nextMs })
  expect(after(once, { ...seen, nowMs: once.nextMs })).toMatchObject({ state: 'confirmed', reason: null })
})

it('a lie that is not repeated ends nothing', () => {
  const once = after(queued, said({ done: 'confirmed' }))
  expect(planNonceJob(once, said({ nowMs: once.nextMs }), policy)).toMatchObject({ do: 'sign', purpose: 'deliver' })
})

it('no transaction is cancelled at a single word', () => {
  expect(planNonceJob(sent, said({ done: 'confirmed', head: 90 }), policy)).toMatchObject({ do: 'wait' })
})

it('what is signed holds up no later nonce while one node alone says that it is done', () => {
  const signed: NonceJob = { ...sent, state: 'signed', txs: [{ ...tx, sentBlock: null }] }
  const done = said({ done: 'confirmed', nonce: 'next' })
  // stopped between signing and sending, and done by another meanwhile
  expect(planNonceJob(signed, done, policy)).toEqual({ do: 'broadcast', tx: signed.txs[0] })
  // dropped by the node, or below the base fee
  expect(planNonceJob(sent, { ...done, head: 150 }, policy)).toMatchObject({ do: 'wait' })
  const late = { ...done, head: 151 }
  expect(planNonceJob(sent, late, policy)).toMatchObject({ do: 'sign', purpose: 'deliver', nonce: 3 })
  const failed = after(sent, { ...late, prepared: { failure: { class: 'revert', reason: 'reverted' } } })
  expect(planNonceJob(failed, late, policy)).toMatchObject({ do: 'sign', purpose: 'cancel', nonce: 3 })
})

it('a noop is sent, and replaced, at a single word: there is nothing to be sure about', () => {
  const cancel: NonceTx = { ...tx, purpose: 'cancel', valueWei: 0n, sentBlock: null }
  const noop: NonceJob = { ...newJob<NonceTx>('n', 'noop'), state: 'signed', nonce: 3, txs: [cancel] }
  expect(planNonceJob(noop, said({ done: 'confirmed' }), policy)).toEqual({ do: 'broadcast', tx: cancel })
  const old: NonceJob = { ...noop, state: 'sent', txs: [{ ...cancel, sentBlock: 47 }] }
  expect(planNonceJob(old, said({ done: 'confirmed' }), policy)).toMatchObject({ do: 'sign', purpose: 'cancel' })
})

it('a receipt is noted before it ends its job', () => {
  const once = after(sent, said({ mined, nonce: 'confirmed' }))
  expect(once).toMatchObject({ state: 'included', included: { hash: '0x1', block: 49 } })
  expect(after(once, said({ mined, nonce: 'confirmed' }))).toMatchObject({ state: 'confirmed', spentWei: 500n })
})
