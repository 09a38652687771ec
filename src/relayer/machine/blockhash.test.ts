import { Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newJob } from '../../../test/support/newJob.js'
import { type RpcCall, RpcPool } from '../../chains/rpc/nodes.js'
import { createRegistrarClient } from '../../chains/solana/registrar.js'
import { createSolanaSigner } from '../../chains/solana/signer.js'
import type { JobKind, SolanaJobTx } from '../../registry/outbox.js'
import type { PaymentOutcome } from '../../registry/payment/payment.js'
import {
  type JobPaymentState,
  MAX_VALID_MS,
  paymentStateOfJob,
  planSolanaJobStep,
  type SolanaJobAction,
  type SolanaJobSnapshot,
} from './blockhash.js'
import { applyJobEvent, type JobEvent } from './index.js'
import { parkJobOnceUnmineable, type SolanaJob } from './job.js'

const tx: SolanaJobTx = { hash: 'sig', raw: 'AAAA', lastValidHeight: 500 }
const now = { nowMs: 1_000_000, random: 0.5 }
const step = (job: SolanaJob, event: JobEvent<SolanaJobTx>): SolanaJob =>
  applyJobEvent(job, event, now)
const queued = (kind: JobKind = 'refund'): SolanaJob => newJob<SolanaJobTx>('j', kind)
const signed = step(queued(), { is: 'signed', nonce: null, tx })
const sent = step(signed, { is: 'sent', hash: 'sig' })
const failure = (reason: string) => ({ class: 'transient' as const, reason })
const seen = (change: Partial<SolanaJobSnapshot>): SolanaJobSnapshot => ({
  height: 500,
  agreedHeight: change.height ?? 500,
  unchangedMs: 0,
  status: null,
  payment: null,
  ...change,
})
const HELD: JobPaymentState = { is: 'held' }
const GONE: JobPaymentState = { is: 'unknown' }
const DONE = { isConfirmed: true, error: null }
const record = (event: JobEvent<SolanaJobTx>): SolanaJobAction => ({ do: 'record', event })
const expired = (reason = 'expired') => record({ is: 'expired', feeWei: 0n, reason })

describe('a signed transaction', () => {
  it.each<[string, Partial<SolanaJobSnapshot>, SolanaJobAction]>([
    ['in no block yet', {}, { do: 'broadcast', tx }],
    ['that can land no more', { height: 501 }, { do: 'look' }],
    [
      'in an unconfirmed block',
      { height: 900, status: { isConfirmed: false, error: null } },
      { do: 'wait' },
    ],
    [
      'that failed in one',
      { height: 900, status: { isConfirmed: false, error: 'overflow' } },
      { do: 'wait' },
    ],
    ['in a confirmed block', { height: 900, status: DONE }, { do: 'look' }],
    [
      'whose payment is held all the same',
      { height: 400, status: DONE, payment: HELD },
      { do: 'wait' },
    ],
    [
      'whose payment is gone without an outcome',
      { height: 900, status: DONE, payment: GONE },
      { do: 'wait' },
    ],
    ['that a node made up', { height: 900, status: DONE, payment: HELD }, expired()],
    [
      'that failed',
      { height: 400, status: { isConfirmed: true, error: 'overflow' } },
      expired('overflow'),
    ],
  ])('%s', (_, change, action) => {
    expect(planSolanaJobStep(sent, seen(change))).toEqual(action)
    expect(planSolanaJobStep(signed, seen(change))).toEqual(action)
  })

  it('is never given up while it may be included, or may have been', () => {
    const status = fc.option(
      fc.record({ isConfirmed: fc.boolean(), error: fc.option(fc.constant('overflow')) }),
    )
    const payment = fc.option(fc.constant(HELD))
    fc.assert(
      fc.property(fc.nat(2_000), status, payment, (height, found, view) => {
        const action = planSolanaJobStep(sent, seen({ height, status: found, payment: view }))
        expect(action.do).not.toBe('sign')
        if (action.do === 'look')
          expect(found ? found.isConfirmed : height > tx.lastValidHeight).toBe(true)
        if (action.do === 'record')
          expect(found?.isConfirmed ?? height > tx.lastValidHeight).toBe(true)
      }),
    )
  })

  it.each<[string, Partial<SolanaJobSnapshot>, 'broadcast' | 'look']>([
    ['which one node alone calls past', { height: 501, agreedHeight: 500 }, 'broadcast'],
    ['which one node alone calls past for long', { height: 501, agreedHeight: 0 }, 'look'],
    ['which is too far ahead', { height: 10, agreedHeight: 10 }, 'broadcast'],
    ['which is too far ahead for long', { height: 199, agreedHeight: 199 }, 'look'],
    ['at which the cluster may halt for long', { height: 200, agreedHeight: 200 }, 'broadcast'],
  ])('has a last block, one node’s answer, %s', (what, change, action) => {
    const unchangedMs = MAX_VALID_MS + (/long/.test(what) ? 1 : 0)
    expect(planSolanaJobStep(sent, seen({ ...change, unchangedMs })).do).toBe(action)
    const status = { isConfirmed: true, error: null }
    const made = planSolanaJobStep(sent, seen({ ...change, unchangedMs, status, payment: HELD }))
    expect(made).toEqual(action === 'look' ? expired() : { do: 'wait' })
  })

  it('that expired without inclusion is signed again only where its payment is still held', () => {
    const late = (view: JobPaymentState) =>
      planSolanaJobStep(sent, seen({ height: 501, payment: view }))
    expect(late(HELD)).toEqual(expired())
    expect(late({ is: 'unknown' })).toEqual(expired('closed_unseen'))
    expect(late({ is: 'done' })).toEqual(record({ is: 'confirmed', feeWei: 0n }))
    const refused = step(signed, { is: 'refused', hash: 'sig', reason: 'custom_17' })
    expect(planSolanaJobStep(refused, seen({ height: 501, payment: HELD }))).toEqual(
      expired('custom_17'),
    )
  })
})

describe('a signed transaction beside one lying node of two or three', () => {
  const HEIGHT = 1_000
  const number = fc.oneof(fc.integer({ min: 850, max: 1_150 }), fc.constantFrom(0, 1, 10 ** 9))
  const status = fc.constantFrom(null, 'processed', 'finalized')
  const liar = fc.record({ at: fc.nat(2), height: number, slot: number, status })

  /** What the nodes in turn show of the transaction, which no block includes. */
  async function seenInTurn(count: number, lie: { at: number } & Record<string, unknown>) {
    const rpc = new RpcPool<string>({
      label: 'solana',
      urls: Array.from({ length: count }, (_, i) => `http://${i}`),
      behindBlocks: 50,
      readGenesis: async () => 'ours',
      headOf: async () => ({ height: HEIGHT, timeMs: null }),
      connect: (url): RpcCall => {
        const honest = { height: HEIGHT, slot: HEIGHT, status: null }
        const { height, slot, status } = Number(url.at(-1)) === lie.at % count ? lie : honest
        const answers: Record<string, unknown> = {
          getEpochInfo: { absoluteSlot: slot, blockHeight: height },
          getSignatureStatuses: {
            value: [status && { slot, err: null, confirmationStatus: status }],
          },
        }
        return async <T>(method: string) => answers[method] as T
      },
    })
    const signer = createSolanaSigner({
      rpc,
      registrar: createRegistrarClient('11111111111111111111111111111111'),
      commitment: 'finalized',
      secretKey: Keypair.generate().secretKey,
      maxUnitPrice: 0,
    })
    const turns = []
    for (let turn = 0; turn < count; turn++) {
      const { statuses, slot: _, ...heights } = await signer.statuses(['sig'])
      turns.push({ ...heights, status: statuses[0]! })
    }
    return turns
  }
  const planned = (lastValidHeight: number, view: Partial<SolanaJobSnapshot>): SolanaJobAction =>
    planSolanaJobStep({ ...sent, txs: [{ ...tx, lastValidHeight }] }, seen(view))

  it('is not given up while it may land', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(2, 3), liar, fc.nat(150), async (count, lie, ahead) => {
        for (const view of await seenInTurn(count, lie)) {
          const at = { ...view, unchangedMs: MAX_VALID_MS, payment: HELD }
          expect(['broadcast', 'wait']).toContain(planned(HEIGHT + ahead, at).do)
        }
      }),
    )
  })

  it('is given up in time by one of the nodes in turn, whatever last block it was signed with', async () => {
    const dead = fc.oneof(fc.nat(HEIGHT - 1), fc.integer({ min: HEIGHT + 301 }))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(2, 3), liar, dead, async (count, lie, lastValidHeight) => {
        const views = await seenInTurn(count, lie)
        const late = views.map((view) => ({ ...view, unchangedMs: MAX_VALID_MS + 1 }))
        const actions = late.map((view) => planned(lastValidHeight, { ...view, payment: HELD }))
        expect(actions).toContainEqual(expired())
      }),
    )
  })
})

describe('a queued job', () => {
  it('reads its payment, and signs where that is held', () => {
    expect(planSolanaJobStep(queued(), seen({}))).toEqual({ do: 'look' })
    expect(planSolanaJobStep(queued(), seen({ payment: HELD }))).toEqual({ do: 'sign' })
  })

  it('ends with the outcome of its payment', () => {
    const view = (payment: JobPaymentState) => planSolanaJobStep(queued(), seen({ payment }))
    expect(view({ is: 'done' })).toEqual(record({ is: 'confirmed', feeWei: 0n }))
    expect(view({ is: 'lost', reason: 'settled_elsewhere' })).toEqual(
      record({ is: 'parked', reason: 'settled_elsewhere' }),
    )
    expect(view({ is: 'unknown' })).toEqual(
      record({ is: 'failed', failure: failure('closed_unseen') }),
    )
  })

  it('waits once it has ended', () => {
    expect(planSolanaJobStep(parkJobOnceUnmineable(queued()), seen({ payment: HELD }))).toEqual({
      do: 'wait',
    })
  })
})

describe('apply', () => {
  it('keeps its signed transaction while it is sent and refused', () => {
    expect(signed).toEqual({ ...queued(), state: 'signed', txs: [tx] })
    expect(sent).toEqual({ ...signed, state: 'sent' })
    const later = { ...tx, hash: 'later' }
    expect(step(signed, { is: 'signed', nonce: null, tx: later }).txs).toEqual([later])
    const refused = step(signed, { is: 'refused', hash: 'sig', reason: 'blockhash_not_found' })
    expect(refused).toEqual({ ...signed, reason: 'blockhash_not_found' })
    expect(step(refused, { is: 'sent', hash: 'sig' })).toEqual(sent)
  })

  it('waits longer after each failure while nothing is sent', () => {
    const once = step(sent, { is: 'expired', feeWei: 0n, reason: 'expired' })
    expect(once).toEqual({
      ...queued(),
      failures: 1,
      reason: 'expired',
      nextMs: now.nowMs + 5_000,
      alone: true,
    })
    expect(step(once, { is: 'failed', failure: failure('insufficient_funds') })).toMatchObject({
      state: 'queued',
      failures: 2,
      nextMs: now.nowMs + 10_000,
    })
  })

  it('ends with the transaction that executed it', () => {
    expect(step(sent, { is: 'confirmed', feeWei: 0n })).toMatchObject({
      state: 'confirmed',
      txs: [tx],
      reason: null,
    })
    expect(step(queued(), { is: 'confirmed', feeWei: 0n })).toMatchObject({
      state: 'confirmed',
      txs: [],
    })
    const parked = { state: 'parked', reason: 'reclaimed', nextMs: 0 }
    expect(step(sent, { is: 'parked', reason: 'reclaimed' })).toMatchObject({ ...parked, txs: [] })
  })

  it('parks on the operator’s request once its sent transaction has expired', () => {
    const parking = parkJobOnceUnmineable(sent)
    expect(parking).toMatchObject({ state: 'sent', release: 'operator', txs: [tx] })
    expect(step(parking, { is: 'expired', feeWei: 0n, reason: 'expired' })).toMatchObject({
      state: 'parked',
      reason: 'operator',
      txs: [],
    })
  })
})

describe('a payment with a job', () => {
  const lost = (reason: string) => ({ is: 'lost', reason })
  it.each<[JobKind, boolean, PaymentOutcome | null, unknown]>([
    ['settle', true, null, { is: 'held' }],
    ['refuse', true, null, { is: 'held' }],
    ['settle', false, null, { is: 'unknown' }],
    ['refund', false, null, { is: 'unknown' }],
    ['settle', false, 'released', { is: 'done' }],
    ['settle', true, 'released', { is: 'done' }],
    ['settle', false, 'refused', lost('refunded_elsewhere')],
    ['settle', false, 'reclaimed', lost('reclaimed')],
    ['refund', false, 'refused', { is: 'done' }],
    ['refund', false, 'reclaimed', { is: 'done' }],
    ['refund', false, 'released', lost('settled_elsewhere')],
    ...(['refuse', 'release'] as const).flatMap((kind) =>
      (['refused', 'released', 'reclaimed'] as const).map(
        (outcome): [JobKind, boolean, PaymentOutcome, unknown] => [
          kind,
          false,
          outcome,
          { is: 'done' },
        ],
      ),
    ),
  ])('%s, held: %s, decided: %s', (kind, isHeld, outcome, view) => {
    expect(paymentStateOfJob(kind, isHeld, outcome)).toEqual(view)
  })
})
