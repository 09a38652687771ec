import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PayoutFields, PayoutTx } from '../../db/outbox/payoutRows.js'
import {
  closed,
  confirmed,
  failed,
  goesAlone,
  heldOver,
  planTx,
  refusalEnded,
  refused,
  sent,
  signed,
} from './machine.js'

const tx: PayoutTx = { signature: Buffer.alloc(64, 1), raw: Buffer.alloc(300, 2), lastValidHeight: 500 }
const queued: PayoutFields = { state: 'queued', tx: null, failures: 0, nextMs: 0, reason: null }
const onItsWay = signed(tx)(queued)
const now = { nowMs: 1_000_000, random: 0.5 }

describe('a signed transaction', () => {
  it.each([
    ['in no block yet', 500, null, { do: 'broadcast' }],
    ['that can land no more', 501, null, { do: 'look' }],
    ['in a block that is not believed', 900, { isBelieved: false, error: null }, { do: 'wait' }],
    ['that failed in a block that is not believed', 900, { isBelieved: false, error: 'overflow' }, { do: 'wait' }],
    ['in a believed block', 900, { isBelieved: true, error: null }, { do: 'confirm' }],
    ['that failed', 400, { isBelieved: true, error: 'overflow' }, { do: 'requeue', reason: 'overflow' }],
  ])('%s', (_, height, status, action) => {
    expect(planTx(tx, { height, status })).toEqual(action)
  })

  it('is never given up while it may land, or may have landed', () => {
    const status = fc.option(fc.record({ isBelieved: fc.boolean(), error: fc.option(fc.constant('overflow')) }))
    fc.assert(
      fc.property(fc.nat(2_000), status, (height, seen) => {
        const { do: deed } = planTx(tx, { height, status: seen })
        if (deed === 'look') expect(seen === null && height > tx.lastValidHeight).toBe(true)
        if (deed === 'requeue' || deed === 'confirm') expect(seen?.isBelieved).toBe(true)
      }),
    )
  })
})

describe('a payout', () => {
  it('keeps what was signed while it is sent and refused', () => {
    expect(sent(onItsWay)).toEqual({ ...onItsWay, state: 'sent' })
    expect(refused('blockhash_not_found')(onItsWay)).toEqual({ ...onItsWay, reason: 'blockhash_not_found' })
  })

  it('waits longer after each failure, with nothing on its way', () => {
    const once = failed('expired', now)(sent(onItsWay))
    expect(once).toEqual({ ...queued, failures: 1, reason: 'expired', nextMs: now.nowMs + 5_000 })
    expect(failed('expired', now)(once)).toMatchObject({ failures: 2, nextMs: now.nowMs + 10_000 })
  })

  it('ends with what closed its payment', () => {
    const signature = Buffer.alloc(64, 9)
    expect(confirmed(sent(onItsWay))).toMatchObject({ state: 'confirmed', tx, reason: null })
    expect(closed('refund', { kind: 'refund', signature }, now)(queued)).toMatchObject({
      state: 'confirmed',
      tx: { signature },
    })
    expect(closed('refund', { kind: 'settle', signature }, now)(queued)).toMatchObject({
      state: 'parked',
      reason: 'settled_elsewhere',
      tx: { signature },
    })
    expect(closed('settle', null, now)(queued)).toMatchObject({ state: 'queued', reason: 'closed_unseen', failures: 1 })
  })
})

describe('a refusal', () => {
  const signature = Buffer.alloc(64, 9)

  it.each(['refused', 'returned'] as const)('ends with the money %s', (kind) => {
    expect(refusalEnded({ kind, signature }, now)(queued)).toMatchObject({
      state: 'confirmed',
      tx: { signature },
      reason: null,
    })
  })

  it('comes too late once the hold is over', () => {
    const parked = { state: 'parked', reason: 'hold_over', nextMs: 0 }
    expect(refusalEnded({ kind: 'released', signature }, now)(queued)).toMatchObject({ ...parked, tx: { signature } })
    expect(heldOver(failed('expired', now)(onItsWay))).toMatchObject({ ...parked, tx: null })
  })

  it('is looked for again where a node knows no end of it', () => {
    expect(refusalEnded(null, now)(queued)).toMatchObject({ state: 'queued', reason: 'closed_unseen', failures: 1 })
  })

  it('goes alone only after the program or a token has refused what was sent with it', () => {
    expect(goesAlone(queued)).toBe(false)
    for (const reason of ['expired', 'blockhash_not_found', 'insufficient_funds', 'closed_unseen'])
      expect(goesAlone(failed(reason, now)(onItsWay))).toBe(false)
    for (const reason of ['custom_17', 'invalid_account_data', 'account_frozen'])
      expect(goesAlone(failed(reason, now)(onItsWay))).toBe(true)
  })
})
