import { describe, expect, it } from 'vitest'
import {
  type CommunityNamePayment,
  decideTxStatus,
  type JournalledBid,
  type SentPacket,
  type TxStatusInput,
} from './status.js'

const credit = { eid: 30_184, amountWei: '7', owner: '0x00' }
const refused: JournalledBid = { logIndex: 4, name: 'foo', outcome: 'refused', reason: 'paused' }
const winner = { amountWei: '8', tx: '0xwon' }
const lost: JournalledBid = { logIndex: 5, name: 'bar', outcome: 'lost', winner }
const known: TxStatusInput = {
  nowMs: 0,
  journal: [],
  tail: [],
  tailConfirmations: null,
  packets: [],
  seen: { state: 'unknown' },
  tracked: null,
}
const packet = (names: readonly string[], bids: readonly JournalledBid[]): SentPacket => ({
  logIndex: 1,
  source: { isConfirmed: true, confirmations: { have: 2, need: 2 } },
  names,
  hub: { state: 'journal', bids, hubTx: '0xhub', credit },
})

describe('the status of bids that won nothing', () => {
  it('has the hub’s debt for them', () => {
    expect(decideTxStatus({ ...known, journal: [lost], credit })).toMatchObject({
      status: 'lost_bid',
      credit,
    })
    expect(
      decideTxStatus({ ...known, packets: [packet(['foo', 'bar'], [refused, lost])] }),
    ).toMatchObject({
      status: 'invalid',
      reason: 'paused',
      hubTx: '0xhub',
      credit,
    })
    const unread = decideTxStatus({ ...known, packets: [packet([], [])] })
    expect(unread).toMatchObject({ status: 'invalid', reason: 'message_refused', credit })
  })

  it('has no credit where nothing is owed', () => {
    expect(decideTxStatus({ ...known, journal: [lost], credit: null })).not.toHaveProperty('credit')
    expect(decideTxStatus({ ...known, journal: [{ ...lost, outcome: 'won' }] })).not.toHaveProperty(
      'credit',
    )
  })
})

describe('the status of a payment on Solana', () => {
  const paid = (bid: JournalledBid): SentPacket => ({
    ...packet([bid.name], [bid]),
    hub: { state: 'journal', bids: [bid], hubTx: '0xhub' },
  })
  const of = (changed: SentPacket) => decideTxStatus({ ...known, packets: [changed] })

  it('has its refund where it bought nothing', () => {
    const answer = { status: 'lost_bid', reason: 'name_taken', hubTx: '0xhub' }
    expect(of({ ...paid(lost), refund: 'held' })).toMatchObject({ ...answer, refund: 'held' })
    expect(of({ ...paid(lost), refund: 'refused' })).toMatchObject({ ...answer, refund: 'refused' })
    const foreign = { ...paid(lost), hub: { state: 'under_way', failure: null } } as const
    expect(of({ ...foreign, refusal: 'quote_mismatch', refund: 'refused' })).toMatchObject({
      status: 'invalid',
      reason: 'quote_mismatch',
      refund: 'refused',
    })
  })

  it('has no refund where it bought its name', () => {
    const won: JournalledBid = { logIndex: 5, name: 'bar', outcome: 'won' }
    expect(of({ ...paid(won), refund: 'released' })).toMatchObject({ status: 'finalized' })
    expect(of({ ...paid(won), refund: 'released' })).not.toHaveProperty('refund')
  })
})

describe('a payment for a community name', () => {
  const few = { have: 1, need: 2 }
  const source = { isConfirmed: true, confirmations: few }
  const paid: CommunityNamePayment = {
    logIndex: 3,
    name: 'club/foo',
    source,
    judgement: null,
    refund: null,
    outcome: null,
    reclaimableMs: Date.UTC(2026, 10, 27),
  }
  const of = (changes: Partial<CommunityNamePayment>, rest: Partial<TxStatusInput> = {}) =>
    decideTxStatus({ ...known, paidNames: [{ ...paid, ...changes }], ...rest })

  it('is pending until it is decided, also when it is confirmed', () => {
    const pending = {
      status: 'pending',
      names: [{ name: 'club/foo', outcome: 'pending' }],
      confirmations: few,
    }
    expect(of({ source: { isConfirmed: false, confirmations: few } })).toStrictEqual(pending)
    expect(of({})).toStrictEqual(pending)
    expect(of({ source: { isConfirmed: true, confirmations: null } })).not.toHaveProperty(
      'confirmations',
    )
  })

  it('ends with its decision and its refund', () => {
    expect(of({ judgement: { outcome: 'registered' } })).toStrictEqual({
      status: 'finalized',
      payout: 'held',
      names: [{ name: 'club/foo', outcome: 'won' }],
    })
    expect(of({ judgement: { outcome: 'lost' }, refund: 'held' })).toStrictEqual({
      status: 'lost_bid',
      reason: 'name_taken',
      refund: 'held',
      names: [{ name: 'club/foo', outcome: 'lost' }],
      reclaimAfter: '2026-11-27T00:00:00.000Z',
    })
    const underpaid = { outcome: 'refused', reason: 'underpaid' } as const
    expect(of({ judgement: underpaid, refund: 'refused', outcome: 'refused' })).toStrictEqual({
      status: 'invalid',
      reason: 'underpaid',
      refund: 'refused',
      names: [{ name: 'club/foo', outcome: 'refused' }],
    })
  })

  it('reports where the money is, or from when on the payer may reclaim it', () => {
    expect(of({ judgement: { outcome: 'lost' }, refund: 'reclaim' })).toMatchObject({
      refund: 'reclaim',
      reclaimAfter: '2026-11-27T00:00:00.000Z',
    })
  })

  it.each(['refused', 'reclaimed', 'released'] as const)(
    'reports where the money is: %s',
    (outcome) => {
      const ended = of({ judgement: { outcome: 'lost' }, refund: outcome, outcome })
      expect(ended).toMatchObject({ refund: outcome })
      expect(ended).not.toHaveProperty('reclaimAfter')
      expect(of({ judgement: { outcome: 'registered' }, outcome })).toMatchObject({
        payout: outcome,
      })
    },
  )

  it('is the status of the first of several payments', () => {
    const second: CommunityNamePayment = {
      ...paid,
      logIndex: 5,
      name: 'club/bar',
      judgement: { outcome: 'registered' },
    }
    const answer = decideTxStatus({
      ...known,
      paidNames: [second, { ...paid, judgement: { outcome: 'lost' } }],
    })
    expect(answer).toMatchObject({
      status: 'lost_bid',
      names: [{ name: 'club/foo' }, { name: 'club/bar' }],
    })
  })

  it('does not decide a transaction that also placed bids or sent messages', () => {
    const decided = { judgement: { outcome: 'registered' } } as const
    const lost = [{ logIndex: 9, name: 'x', outcome: 'lost' as const }]
    expect(of(decided, { journal: lost })).toMatchObject({ status: 'lost_bid' })
    const packet = {
      logIndex: 9,
      source,
      names: ['x'],
      hub: { state: 'under_way', failure: null },
    } as const
    expect(of(decided, { packets: [packet] })).toMatchObject({ status: 'bridging' })
  })
})
