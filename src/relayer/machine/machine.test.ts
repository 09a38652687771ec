import { describe, expect, it } from 'vitest'
import {
  cancelling,
  NOW,
  policy,
  prepared,
  queued,
  seen,
  sent,
  signed,
  txOf,
} from '../../../test/model/nonceJobs.js'
import type { MinedReceipt } from '../../chains/evm/jobView.js'
import type { EvmJobTx } from '../../registry/outbox.js'
import {
  applyJobEvent,
  type EvmJobAction,
  type EvmJobSnapshot,
  type JobEvent,
  REPLACE_AFTER_BLOCKS,
} from './index.js'
import type { EvmJob } from './job.js'
import { planEvmJobStep } from './nonce.js'

const old: EvmJob = { ...sent, txs: [txOf(1, { sentBlock: 48 })] }
const included: EvmJob = { ...sent, state: 'included', included: { hash: '0x1', block: 50 } }
const mined = (change: Partial<MinedReceipt> = {}): MinedReceipt => ({
  hash: '0x1',
  block: 50,
  succeeded: true,
  isConfirmed: false,
  feeWei: 500n,
  ...change,
})
const done = (change: Partial<MinedReceipt> = {}) => mined({ isConfirmed: true, ...change })
const record = (event: object) => ({ do: 'record', event })
const wait = { do: 'wait' }
const failure = { class: 'revert', reason: 'hub_paused' } as const
const permanent = { class: 'permanent', reason: 'above_deliver_limit' } as const
const bumped = { maxFeePerGas: 110n, maxPriorityFeePerGas: 11n }
const prepare = (purpose: EvmJobTx['purpose']) => ({ do: 'prepare', purpose })
const send = (tx: EvmJobTx | undefined) => ({ do: 'broadcast', tx })
/** The action that replaces a transaction with the same nonce. */
const sign = (purpose: EvmJobTx['purpose'], change: object = {}) => ({
  do: 'sign',
  purpose,
  nonce: 3,
  valueWei: purpose === 'cancel' ? 0n : 7n,
  gas: 1_000n,
  fees: bumped,
  ...change,
})
const confirmed = (feeWei: bigint) => record({ is: 'confirmed', feeWei })
const includedIn = (block: number) => record({ is: 'included', hash: '0x1', block })
const expired = (reason: string) => record({ is: 'expired', feeWei: 500n, reason })
const dear = txOf(1, { maxFeePerGas: 5_000n, maxPriorityFeePerGas: 10n })
const bound = txOf(1, { sentBlock: 48, maxFeePerGas: 9_999n })
const stopped = [txOf(1), txOf(2, { purpose: 'cancel', sentBlock: 40 })]

describe('plan', () => {
  it.each<[string, EvmJob, Partial<EvmJobSnapshot>, unknown]>([
    ['queued: looks whether it would go through', queued, {}, prepare('deliver')],
    [
      'queued: signs at the next nonce',
      queued,
      { prepared },
      sign('deliver', { nonce: null, fees: prepared.fees }),
    ],
    ['queued: would fail', queued, { prepared: { failure } }, record({ is: 'failed', failure })],
    ['queued: pauses', { ...queued, nextMs: NOW + 5 }, { prepared }, wait],
    ['queued: executed by another, unconfirmed', queued, { done: 'unconfirmed' }, wait],
    [
      'queued: executed by another',
      { ...queued, nextMs: NOW + 5 },
      { done: 'confirmed' },
      confirmed(0n),
    ],

    ['signed: sends', signed, {}, send(signed.txs[0])],
    [
      'signed: sends, in whatever order the nonces come',
      signed,
      { nonce: 'later' },
      send(signed.txs[0]),
    ],
    ['signed: executed by another, unconfirmed', signed, { done: 'unconfirmed' }, wait],
    [
      'signed: executed by another: frees the nonce',
      signed,
      { done: 'confirmed' },
      prepare('cancel'),
    ],
    [
      'signed: executed by another: cancels',
      signed,
      { done: 'confirmed', prepared },
      sign('cancel'),
    ],
    [
      'signed: a cancel pushes out what it replaces, whatever that offers',
      { ...signed, txs: [dear] },
      { done: 'confirmed', prepared },
      sign('cancel', { fees: { ...bumped, maxFeePerGas: 5_500n } }),
    ],

    [
      'sent: waits for REPLACE_AFTER_BLOCKS blocks',
      sent,
      { head: 49 + REPLACE_AFTER_BLOCKS },
      wait,
    ],
    ['sent: then looks', old, {}, prepare('deliver')],
    ['sent: then replaces', old, { prepared }, sign('deliver')],
    ['sent: behind another nonce: the same again', old, { nonce: 'later' }, send(old.txs[0])],
    [
      'sent: fees at their bound: the same again',
      { ...old, txs: [bound] },
      { prepared },
      send(bound),
    ],
    ['sent: would fail now', old, { prepared: { failure } }, record({ is: 'failed', failure })],
    [
      'sent: refused by the nodes: replaced without waiting for blocks',
      { ...sent, txs: [txOf(1, { isRejected: true })] },
      {},
      prepare('deliver'),
    ],
    ['sent: to be parked: cancels', { ...old, release: 'operator' }, {}, prepare('cancel')],
    ['cancelling: sends the cancel', cancelling, {}, send(cancelling.txs[1])],
    [
      'cancelling: even while somebody executes it',
      cancelling,
      { done: 'unconfirmed' },
      send(cancelling.txs[1]),
    ],
    [
      'cancelling: delivers no more at this nonce',
      { ...cancelling, release: null, txs: stopped },
      {},
      prepare('cancel'),
    ],

    ['mined', sent, { mined: mined() }, includedIn(50)],
    [
      'mined: before any pause ends',
      { ...sent, nextMs: NOW * 2 },
      { mined: mined() },
      includedIn(50),
    ],
    ['included: waits', included, { mined: mined() }, wait],
    [
      'included: in another block after a reorg',
      included,
      { mined: mined({ block: 51 }) },
      includedIn(51),
    ],
    ['included: lost in a reorg', included, {}, record({ is: 'reorged' })],
    ['included: confirmed', included, { mined: done() }, confirmed(500n)],
    [
      'included: confirmed as reverted',
      included,
      { mined: done({ succeeded: false }) },
      expired('reverted'),
    ],
    [
      'included: reverted because another was quicker',
      included,
      { mined: done({ succeeded: false }), done: 'confirmed' },
      confirmed(500n),
    ],
    [
      'cancelling: the cancel is confirmed',
      { ...cancelling, reason: 'hub_paused' },
      { mined: done({ hash: '0x2' }) },
      expired('hub_paused'),
    ],
    ['cancelling: the delivery was quicker', cancelling, { mined: done() }, confirmed(500n)],

    ['nonce used, none of its own yet', sent, { nonce: 'unconfirmed' }, wait],
    [
      'nonce used for good, delivered',
      sent,
      { nonce: 'confirmed', done: 'confirmed' },
      confirmed(0n),
    ],
    [
      'nonce used for good, perhaps delivered',
      sent,
      { nonce: 'confirmed', done: 'unconfirmed' },
      wait,
    ],
    ['found', sent, { nonce: 'confirmed', mined: mined() }, includedIn(50)],

    ['confirmed', { ...sent, state: 'confirmed' }, { done: 'confirmed' }, wait],
    ['parked', { ...queued, state: 'parked' }, { prepared }, wait],
  ])('%s', (_, delivery, change, action) => {
    expect(planEvmJobStep(delivery, seen(change), policy)).toEqual(action as EvmJobAction)
  })
})

describe('apply', () => {
  const at = seen()

  it('is sent alone from the chain’s first refusal on, but not because of an unavailable node', () => {
    const away = { class: 'transient', reason: 'timeout' } as const
    const goesAlone = (job: EvmJob, event: JobEvent<EvmJobTx>) =>
      applyJobEvent(job, event, at).alone
    expect(goesAlone(queued, { is: 'failed', failure: away })).toBe(false)
    expect(goesAlone(queued, { is: 'failed', failure })).toBe(true)
    expect(goesAlone(old, { is: 'failed', failure })).toBe(true)
    expect(goesAlone(signed, { is: 'refused', hash: '0x1', reason: 'refused' })).toBe(false)
    expect(goesAlone(signed, { is: 'failed', failure })).toBe(true)
  })

  it('parks a job at once that can never succeed and holds no nonce', () => {
    expect(applyJobEvent(queued, { is: 'failed', failure: permanent }, at)).toMatchObject({
      state: 'parked',
      reason: 'above_deliver_limit',
    })
  })

  it('frees the nonce of a job that fails now, and parks a job that can never succeed once its nonce is free', () => {
    expect(applyJobEvent(old, { is: 'failed', failure }, at)).toMatchObject({
      state: 'sent',
      release: 'queue',
      nextMs: NOW,
    })
    const dead = applyJobEvent(signed, { is: 'failed', failure: permanent }, at)
    expect(dead).toMatchObject({ state: 'signed', nonce: 3, release: 'above_deliver_limit' })
    expect(applyJobEvent(dead, { is: 'expired', feeWei: 5n, reason: 'x' }, at)).toMatchObject({
      state: 'parked',
      nonce: null,
      txs: [],
      reason: 'above_deliver_limit',
      spentWei: 5n,
    })
  })

  it('never gives up a nonce for a refusal, and marks the transaction only if nodes answered', () => {
    const refused = (reason: string) =>
      applyJobEvent(signed, { is: 'refused', hash: '0x1', reason }, at)
    const kept = { state: 'signed', nonce: 3, release: null, nextMs: NOW + 5_000 }
    expect(refused('unreachable')).toMatchObject({ ...kept, txs: signed.txs })
    expect(refused('refused')).toMatchObject({ ...kept, txs: [txOf(1, { isRejected: true })] })
  })

  it('sends a transaction again that a reorg removed', () => {
    const back = applyJobEvent(included, { is: 'reorged' }, at)
    expect(back).toEqual(signed)
    expect(planEvmJobStep(back, seen(), policy)).toMatchObject({ do: 'broadcast' })
  })

  it('queues a job again, after a pause, whose nonce was used without delivering', () => {
    expect(
      applyJobEvent(included, { is: 'expired', feeWei: 500n, reason: 'reverted' }, at),
    ).toEqual({
      ...queued,
      failures: 1,
      nextMs: NOW + 5_000,
      spentWei: 500n,
      reason: 'reverted',
      alone: true,
    })
  })

  it('ends with its cost', () => {
    expect(
      applyJobEvent(
        { ...included, reason: 'x', spentWei: 1n },
        { is: 'confirmed', feeWei: 500n },
        at,
      ),
    ).toMatchObject({
      state: 'confirmed',
      spentWei: 501n,
      reason: null,
    })
  })
})
