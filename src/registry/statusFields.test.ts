import { describe, expect, it } from 'vitest'
import { type PaidName, type SentPacket, type StatusAnswer, type StatusInput, status } from './status.js'

const SOURCE = { have: 1, need: 2 }
const HUB = { have: 0, need: 9 }
const input = (change: Partial<StatusInput>): StatusInput => ({
  ...{ nowMs: 0, journal: [], tail: [], tailConfirmations: null, seen: { state: 'unknown' }, tracked: null },
  ...change,
})

describe('a field without a value is absent:', () => {
  const bid = { logIndex: 4, name: 'n4' }
  it.each<[string, Partial<StatusInput>, StatusAnswer]>([
    ['confirmations in a mempool', { seen: { state: 'mempool' } }, { status: 'pending' }],
    [
      'the reason of a bid that won',
      { journal: [{ ...bid, outcome: 'won' }] },
      { status: 'finalized', names: [{ name: 'n4', outcome: 'won' }] },
    ],
    [
      'the reason of a refusal, where it is unknown',
      { journal: [{ ...bid, outcome: 'refused' }] },
      { status: 'invalid', names: [{ name: 'n4', outcome: 'refused' }] },
    ],
  ])('%s', (_, change, answer) => {
    expect(status(input(change))).toStrictEqual(answer)
  })

  it('the reason of a payment that registered', () => {
    const source = { isConfirmed: true, confirmations: null }
    const paid: PaidName = {
      logIndex: 3,
      name: 'club/foo',
      source,
      judgement: { outcome: 'registered' },
      refund: null,
      outcome: null,
      reclaimableMs: 0,
    }
    expect(status(input({ paidNames: [paid] }))).not.toHaveProperty('reason')
  })
})

describe('a message that was executed, none of its bids in sight,', () => {
  const executed = (isConfirmed: boolean): SentPacket => ({
    ...{ logIndex: 2, names: ['n4', 'n5'], source: { isConfirmed, confirmations: SOURCE } },
    hub: { state: 'tail', bids: [], confirmations: HUB, hubTx: '0xhub' },
  })
  const names = (outcome: 'bridging' | 'pending') => [
    { name: 'n4', outcome },
    { name: 'n5', outcome },
  ]

  it('has the confirmations of its own chain until those are enough, then those of the hub', () => {
    expect(status(input({ packets: [executed(false)] }))).toStrictEqual({
      ...{ status: 'pending', names: names('pending'), confirmations: SOURCE, hubTx: '0xhub' },
    })
    expect(status(input({ packets: [executed(true)] }))).toStrictEqual({
      ...{ status: 'bridging', names: names('bridging'), confirmations: HUB, hubTx: '0xhub' },
    })
  })
})

it('a message for which the hub owes nothing names no credit', () => {
  const source = { isConfirmed: true, confirmations: SOURCE }
  const refused: SentPacket = { logIndex: 2, names: [], source, hub: { state: 'journal', bids: [], hubTx: '0xhub' } }
  expect(status(input({ packets: [refused] }))).toStrictEqual({
    ...{ status: 'invalid', reason: 'message_refused', hubTx: '0xhub' },
  })
})

describe('a payment for a community name', () => {
  const reclaimableMs = Date.UTC(2026, 10, 27)
  const of = (change: Partial<PaidName>) => {
    const source = { isConfirmed: true, confirmations: null }
    const paid = { logIndex: 3, name: 'club/foo', source, judgement: null, refund: null, outcome: null, reclaimableMs }
    return status(input({ paidNames: [{ ...paid, ...change }] }))
  }

  it('tells where the money is: with whom, or from when on the payer may reclaim it', () => {
    const held = { refund: 'held', reclaimAfter: '2026-11-27T00:00:00.000Z' }
    expect(of({ judgement: { outcome: 'lost' }, refund: 'held' })).toMatchObject(held)
    const dust = of({ judgement: { outcome: 'lost' }, refund: 'reclaim' })
    expect(dust).toMatchObject({ ...held, refund: 'reclaim' })
    for (const outcome of ['refused', 'reclaimed', 'released'] as const) {
      const ended = of({ judgement: { outcome: 'lost' }, refund: outcome, outcome })
      expect(ended).toMatchObject({ refund: outcome })
      expect(ended).not.toHaveProperty('reclaimAfter')
      expect(of({ judgement: { outcome: 'registered' }, outcome })).toMatchObject({ payout: outcome })
    }
    const bought = of({ judgement: { outcome: 'registered' } })
    expect(bought).toEqual({ status: 'finalized', payout: 'held', names: [{ name: 'club/foo', outcome: 'won' }] })
  })
})
