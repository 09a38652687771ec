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
