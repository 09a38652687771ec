import { describe, expect, it } from 'vitest'
import { type JournalledBid, type SentPacket, type StatusInput, status } from './status.js'

const credit = { eid: 30_184, amountWei: '7', owner: '0x00' }
const refused: JournalledBid = { logIndex: 4, name: 'foo', outcome: 'refused', reason: 'paused' }
const winner = { amountWei: '8', tx: '0xwon' }
const lost: JournalledBid = { logIndex: 5, name: 'bar', outcome: 'lost', winner }
const known: StatusInput = {
  ...{
    nowMs: 0,
    journal: [],
    tail: [],
    tailConfirmations: null,
    packets: [],
    seen: { state: 'unknown' },
    tracked: null,
  },
}
const packet = (names: readonly string[], bids: readonly JournalledBid[]): SentPacket => ({
  ...{ logIndex: 1, source: { isConfirmed: true, confirmations: { have: 2, need: 2 } }, names },
  hub: { state: 'journal', bids, hubTx: '0xhub', credit },
})

describe('the status of bids that won nothing', () => {
  it('names what the hub owes for them', () => {
    expect(status({ ...known, journal: [lost], credit })).toMatchObject({ status: 'lost_bid', credit })
    expect(status({ ...known, packets: [packet(['foo', 'bar'], [refused, lost])] })).toMatchObject({
      ...{ status: 'invalid', reason: 'paused', hubTx: '0xhub', credit },
    })
    const unread = status({ ...known, packets: [packet([], [])] })
    expect(unread).toMatchObject({ status: 'invalid', reason: 'message_refused', credit })
  })

  it('names nothing where nothing is owed', () => {
    expect(status({ ...known, journal: [lost], credit: null })).not.toHaveProperty('credit')
    expect(status({ ...known, journal: [{ ...lost, outcome: 'won' }] })).not.toHaveProperty('credit')
  })
})

describe('the status of a payment on Solana', () => {
  const paid = (bid: JournalledBid): SentPacket => ({
    ...packet([bid.name], [bid]),
    hub: { state: 'journal', bids: [bid], hubTx: '0xhub' },
  })
  const of = (changed: SentPacket) => status({ ...known, packets: [changed] })

  it('names its refund where it bought nothing', () => {
    const answer = { status: 'lost_bid', reason: 'name_taken', hubTx: '0xhub' }
    expect(of({ ...paid(lost), refund: 'held' })).toMatchObject({ ...answer, refund: 'held' })
    expect(of({ ...paid(lost), refund: 'refused' })).toMatchObject({ ...answer, refund: 'refused' })
    const foreign = { ...paid(lost), hub: { state: 'under_way', failure: null } } as const
    expect(of({ ...foreign, refusal: 'quote_mismatch', refund: 'refused' })).toMatchObject({
      ...{ status: 'invalid', reason: 'quote_mismatch', refund: 'refused' },
    })
  })

  it('names none where it bought its name', () => {
    const won: JournalledBid = { logIndex: 5, name: 'bar', outcome: 'won' }
    expect(of({ ...paid(won), refund: 'released' })).toMatchObject({ status: 'finalized' })
    expect(of({ ...paid(won), refund: 'released' })).not.toHaveProperty('refund')
  })
})
