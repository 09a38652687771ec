import { describe, expect, it } from 'vitest'
import { NOW, policy, prepared, queued, seen, signed, txOf } from '../../../test/model/nonceJobs.js'
import { REFUSED_BY_NODES, type TxFailure } from '../../registry/outbox.js'
import { applyJobEvent, backoffMs, CANCEL_AFTER_BLOCKS, type EvmJobSnapshot } from './index.js'
import type { EvmJob } from './job.js'
import { planEvmJobStep } from './nonce.js'

/** Cost of a job, its value included. */
const CAP = 100_007n
const old: EvmJob = { ...signed, state: 'sent', txs: [txOf(1, { sentBlock: 40 })] }
const cancelling: EvmJob = {
  ...old,
  txs: [txOf(1, { sentBlock: 40 }), txOf(2, { purpose: 'cancel' })],
}
const plan = (job: EvmJob, change: Partial<EvmJobSnapshot> = {}, cap = CAP) =>
  planEvmJobStep(job, seen(change), { ...policy, spendCapWei: cap })

describe('a pause', () => {
  it('ends at its time', () => {
    expect(plan({ ...queued, nextMs: NOW })).toMatchObject({ do: 'prepare' })
    expect(plan({ ...signed, nextMs: NOW })).toMatchObject({ do: 'broadcast' })
    expect(plan({ ...signed, nextMs: NOW + 1 })).toMatchObject({ do: 'wait' })
  })
})

describe('a nonce that a single node reports as used', () => {
  const used = { nonce: 'confirmed', isSure: false } as const
  const said = { ...old, reason: 'nonce_used' }

  it('is accepted when the node reports it again, after a pause', () => {
    const failure = { class: 'transient', reason: 'nonce_used' }
    expect(plan(old, used)).toEqual({ do: 'record', event: { is: 'failed', failure } })
    expect(plan({ ...said, nextMs: NOW + 1 }, used)).toMatchObject({ do: 'wait' })
    const parked = { do: 'record', event: { is: 'parked', reason: 'nonce_taken' } }
    expect(plan({ ...said, nextMs: NOW }, used)).toEqual(parked)
    expect(plan(old, { ...used, isSure: true })).toEqual(parked)
  })
})

describe('a transaction below the base fee', () => {
  // fees for a base fee of 60 and a tip of 2
  const dear = { ...prepared, fees: { maxFeePerGas: 122n, maxPriorityFeePerGas: 2n } }
  const cheap: EvmJob = {
    ...old,
    txs: [txOf(1, { maxFeePerGas: 50n, maxPriorityFeePerGas: 30n, sentBlock: 40 })],
  }

  it('is replaced, whatever its tip', () => {
    expect(plan(cheap, { prepared: dear }, 1_000_000n)).toMatchObject({
      do: 'sign',
      nonce: 3,
      fees: { maxFeePerGas: 122n },
    })
  })

  it('is cancelled after a while where its job may not cost more', () => {
    const headAt = (blocks: number) => ({ head: 40 + blocks, prepared: dear })
    expect(plan(cheap, headAt(CANCEL_AFTER_BLOCKS - 1))).toMatchObject({ do: 'wait' })
    const failure = { class: 'revert', reason: 'fees_above_cap' } as const
    const event = { is: 'failed', failure } as const
    expect(plan(cheap, headAt(CANCEL_AFTER_BLOCKS))).toEqual({ do: 'record', event })
    const released = applyJobEvent(cheap, event, seen())
    // a cancel needs less gas
    const cancel = { ...headAt(CANCEL_AFTER_BLOCKS), prepared: { ...dear, gas: 210n } }
    expect(plan(released, cancel)).toMatchObject({
      do: 'sign',
      purpose: 'cancel',
      nonce: 3,
    })
  })

  it('is sent again, and nothing is signed, where gas costs more than the cap', () => {
    const capped = { ...policy, spendCapWei: CAP, gasPriceCapWei: 59n }
    expect(planEvmJobStep(cancelling, seen({ prepared: dear, head: 60 }), capped)).toMatchObject({
      do: 'broadcast',
    })
    const failure = { class: 'transient', reason: 'gas_price_above_cap' }
    expect(planEvmJobStep(queued, seen({ prepared: dear }), capped)).toEqual({
      do: 'record',
      event: { is: 'failed', failure },
    })
  })
})

describe('the cap', () => {
  const failed = { do: 'record', event: { is: 'failed', failure: { reason: 'fees_above_cap' } } }
  const hopeless = { do: 'record', event: { is: 'parked', reason: 'spend_cap' } }

  it('may be reached, by all that a job costs together', () => {
    expect(plan(queued, { prepared })).toMatchObject({ do: 'sign' })
    expect(plan(queued, { prepared }, 100_006n)).toMatchObject(failed)
    expect(plan({ ...queued, spentWei: 1n }, { prepared })).toMatchObject(failed)
  })

  it('parks a job only where its value and its spent gas leave nothing, whatever fees a node states', () => {
    const spent = { ...queued, spentWei: 50n }
    expect(plan(queued, { prepared }, 8n)).toMatchObject(failed)
    expect(plan(queued, { prepared }, 7n)).toMatchObject(hopeless)
    expect(plan(spent, { prepared }, 58n)).toMatchObject(failed)
    expect(plan(spent, { prepared }, 57n)).toMatchObject(hopeless)
  })

  it('holds for a replacement, which may reach it too', () => {
    expect(plan(old, { prepared }, 110_007n)).toMatchObject({ do: 'sign', purpose: 'deliver' })
    expect(plan(old, { prepared }, 110_006n)).toMatchObject({ do: 'broadcast' })
  })

  it('holds for a cancel alone, whatever its job has spent', () => {
    const released: EvmJob = { ...old, release: 'operator', spentWei: 10n ** 9n }
    const cancel = { do: 'sign', purpose: 'cancel' }
    expect(plan(released, { prepared }, 110_000n)).toMatchObject(cancel)
    expect(plan(released, { prepared }, 109_999n)).toEqual({ do: 'broadcast', tx: old.txs[0] })
  })
})

it('a cancel is signed even while an earlier nonce is unused', () => {
  expect(plan(old, { nonce: 'later' })).toMatchObject({ do: 'broadcast' })
  expect(plan({ ...old, release: 'operator' }, { nonce: 'later' })).toEqual({
    do: 'prepare',
    purpose: 'cancel',
  })
})

describe('a transaction that no node takes', () => {
  const refused: EvmJob = { ...signed, txs: [txOf(1, { isRejected: true })] }
  /** Highest price, at which a fresh estimate is possible. */
  const capWei = 1_000_100n
  const capped = { spendCapWei: 10n ** 12n, gasPriceCapWei: capWei }
  const highest = { maxFeePerGas: capWei, maxPriorityFeePerGas: capWei, isRejected: true }

  it('is offered at twice the price', () => {
    expect(plan(refused, { prepared }, 10n ** 12n)).toMatchObject({
      do: 'sign',
      purpose: 'deliver',
      fees: { maxFeePerGas: 200n, maxPriorityFeePerGas: 20n },
    })
  })

  it('is cancelled in the end at a fresh price, since later nonces wait for it', () => {
    const last: EvmJob = { ...refused, txs: [txOf(1, highest)] }
    const failure = { class: 'revert', reason: REFUSED_BY_NODES } as const
    const event = { is: 'failed', failure } as const
    expect(planEvmJobStep(last, seen({ prepared }), capped)).toEqual({ do: 'record', event })
    const released = applyJobEvent(last, event, seen())
    expect(released).toMatchObject({ release: 'queue', alone: true, nextMs: NOW })
    expect(planEvmJobStep(released, seen({ prepared }), capped)).toMatchObject({
      do: 'sign',
      purpose: 'cancel',
      nonce: 3,
      fees: prepared.fees,
    })
  })

  it('is not cancelled after an earlier one was taken, which may be mined', () => {
    const last: EvmJob = { ...refused, txs: [txOf(1, { sentBlock: 40 }), txOf(2, highest)] }
    const again = { do: 'broadcast', tx: last.txs[1] }
    expect(planEvmJobStep(last, seen({ prepared }), capped)).toEqual(again)
  })

  it('waits for funds where the balance does not pay the next price, or the last one', () => {
    const waits = {
      do: 'record',
      event: { is: 'failed', failure: { class: 'transient', reason: 'insufficient_funds' } },
    }
    const poor = (balanceWei: bigint) => seen({ prepared: { ...prepared, balanceWei } })
    expect(planEvmJobStep(refused, poor(200_006n), capped)).toEqual(waits)
    expect(planEvmJobStep(refused, poor(200_007n), capped)).toMatchObject({ do: 'sign' })
    const last: EvmJob = { ...refused, txs: [txOf(1, highest)] }
    expect(planEvmJobStep(last, poor(1_000n * capWei + 6n), capped)).toEqual(waits)
  })

  it('and its cancel are offered again at the cap on the price of gas', () => {
    const cancel = txOf(2, { purpose: 'cancel', ...highest })
    const dear: EvmJob = { ...refused, release: 'queue', txs: [...refused.txs, cancel] }
    expect(planEvmJobStep(dear, seen({ prepared }), capped)).toEqual({
      do: 'broadcast',
      tx: cancel,
    })
  })
})

describe('a failure', () => {
  const failureOf = (kind: TxFailure['class']): TxFailure =>
    kind === 'permanent'
      ? { class: kind, reason: 'above_deliver_limit' }
      : { class: kind, reason: 'x' }
  const refused = (job: EvmJob, reason = REFUSED_BY_NODES) =>
    applyJobEvent(job, { is: 'refused', hash: job.txs.at(-1)!.hash, reason }, seen())
  const failed = (job: EvmJob, kind: TxFailure['class']) =>
    applyJobEvent(job, { is: 'failed', failure: failureOf(kind) }, seen())

  it('that is transient frees no nonce, nor does a refusal by nodes', () => {
    for (const job of [refused(signed), failed(signed, 'transient')])
      expect(job).toMatchObject({
        state: 'signed',
        nonce: 3,
        release: null,
        failures: 1,
        nextMs: NOW + 5_000,
      })
  })

  it('by a revert frees the nonce, and keeps an earlier decision', () => {
    expect(failed(signed, 'revert')).toMatchObject({ release: 'queue', nextMs: NOW })
    const parking: EvmJob = { ...signed, release: 'operator' }
    for (const job of [refused(parking), failed(parking, 'revert'), failed(parking, 'permanent')])
      expect(job).toMatchObject({ release: 'operator', nextMs: NOW + 5_000 })
  })

  it('that is permanent parks the job once its nonce is free', () => {
    expect(failed(signed, 'permanent')).toMatchObject({
      release: 'above_deliver_limit',
      nextMs: NOW,
    })
    expect(failed(queued, 'revert')).toMatchObject({ state: 'queued', release: null })
  })

  it('of a cancel changes nothing, since its nonce has to be used up', () => {
    for (const kind of ['revert', 'permanent'] as const)
      for (const job of [refused(cancelling), failed(cancelling, kind)])
        expect(job).toMatchObject({ release: null, nonce: 3, nextMs: NOW + 5_000 })
  })

  it('of a cancel is recognized by the last transaction, however many it replaces', () => {
    const third: EvmJob = { ...old, txs: [txOf(1), txOf(2), txOf(3, { purpose: 'cancel' })] }
    for (const job of [failed(third, 'revert'), failed(third, 'permanent')])
      expect(job.release).toBeNull()
  })
})

describe('an event', () => {
  it('of one transaction does not change the others with its nonce', () => {
    const both: EvmJob = { ...signed, txs: [txOf(1, { sentBlock: 40 }), txOf(2)] }
    expect(applyJobEvent(both, { is: 'sent', hash: '0x2' }, seen()).txs).toEqual([
      both.txs[0],
      txOf(2, { sentBlock: 50 }),
    ])
  })

  it('of an inclusion stores the block', () => {
    const included = { hash: '0x1', block: 50 } as const
    expect(applyJobEvent(old, { is: 'included', ...included }, seen())).toEqual({
      ...old,
      state: 'included',
      included,
    })
  })

  it('that uses up its nonce queues the job again if it was released for that', () => {
    const after = applyJobEvent(
      { ...cancelling, release: 'queue' },
      { is: 'expired', feeWei: 5n, reason: 'x' },
      seen(),
    )
    expect(after).toMatchObject({
      state: 'queued',
      release: null,
      nonce: null,
      txs: [],
      spentWei: 5n,
      failures: 1,
    })
  })
})

const EXECUTION = { kind: 'execute', nonce: null } as const
const pausesAfter = (job: Parameters<typeof backoffMs>[0], ...failures: number[]) =>
  failures.map((count) => backoffMs(job, count, 0.5) / 1_000)

describe('pauses', () => {
  it('grow from 5 s to an hour, and vary by a fifth', () => {
    expect(pausesAfter(EXECUTION, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100)).toEqual([
      5, 10, 30, 60, 180, 600, 1800, 3600, 3600, 3600,
    ])
    expect([0, 0.5, 0.75, 1].map((random) => backoffMs(EXECUTION, 1, random))).toEqual([
      4_000, 5_000, 5_500, 6_000,
    ])
  })

  it.each([
    ['a refusal: its payment is held for an hour', { kind: 'refuse', nonce: null }],
    ['what holds a nonce: all later ones wait for it', { kind: 'execute', nonce: 0 }],
  ] as const)('are a minute at most for %s', (_, job) => {
    expect(pausesAfter(job, 1, 3, 4, 5, 100)).toEqual([5, 30, 60, 60, 60])
    expect(backoffMs(job, 9, 0.999)).toBe(60_000)
  })
})
