import { expect, it } from 'vitest'
import type { NonceTx } from '../../registry/outbox.js'
import { apply, type Policy, REPLACE_AFTER_BLOCKS, type Seen } from './index.js'
import { type NonceJob, newJob, park } from './job.js'
import { planNonceJob } from './nonce.js'

/** Newest block that a node has once told while it took the transaction. */
const ABSURD = 0xffffffffff
const fees = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n }
const policy: Policy = {
  ...{ spendCapWei: 10_000_000n, replaceAfterBlocks: REPLACE_AFTER_BLOCKS, pollMs: 1_000, gasPriceCapWei: 10n ** 15n },
}
/** A month after: the node has dropped the transaction, whose nonce is the signer's next. */
const seen: Seen = {
  ...{ nowMs: 1_000_000, random: 0.5, head: 200_000, done: 'no', nonce: 'next', mined: null, isSure: true },
  ...{ searched: 0, prepared: { gas: 1_000n, fees } },
}
const tx: NonceTx = {
  ...{ hash: '0x1', raw: '0x11', purpose: 'deliver', gas: 1_000n, valueWei: 7n, ...fees },
  ...{ sentBlock: null, isRejected: false },
}
const signed: NonceJob = { ...newJob<NonceTx>('d', 'execute', 7n), state: 'signed', nonce: 3, txs: [tx] }
const sent = apply(signed, { is: 'sent', hash: '0x1' }, { ...seen, head: ABSURD })

it('one absurd head at the sending does not make a transaction be waited for without an end', () => {
  expect(planNonceJob(sent, seen, policy).do).not.toBe('wait')
  const resent = apply(sent, { is: 'sent', hash: '0x1' }, seen)
  expect(planNonceJob(resent, { ...seen, head: seen.head + 2 }, policy)).toMatchObject({ do: 'sign' })
})

it('nor keeps it from being cancelled on the operator’s word', () => {
  expect(planNonceJob(park(sent), seen, policy)).toMatchObject({ do: 'sign', purpose: 'cancel' })
})

it('nor where it is refused for its fees when it is sent again', () => {
  const refused = apply(sent, { is: 'refused', hash: '0x1', failure: { class: 'fee', reason: 'underpriced' } }, seen)
  const later = { ...seen, nowMs: refused.nextMs }
  expect(planNonceJob(refused, later, policy)).toMatchObject({ do: 'sign', purpose: 'deliver' })
  // below the base fee, and a replacement would cost too much
  const dear = { ...later, prepared: { gas: 1_000n, fees: { maxFeePerGas: 1_000n, maxPriorityFeePerGas: 10n } } }
  const event = { is: 'failed', failure: { reason: 'fees_above_cap' } }
  expect(planNonceJob(refused, dear, { ...policy, spendCapWei: 500_000n })).toMatchObject({ do: 'record', event })
})

it('a node may have been ahead by some blocks when it took a transaction', () => {
  const ahead = apply(signed, { is: 'sent', hash: '0x1' }, { ...seen, head: seen.head + 100 })
  expect(planNonceJob(ahead, seen, policy)).toMatchObject({ do: 'wait', why: 'inclusion' })
  expect(planNonceJob(ahead, { ...seen, head: seen.head - 1 }, policy)).toMatchObject({ do: 'broadcast' })
})
