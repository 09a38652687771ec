import { Keypair } from '@solana/web3.js'
import bs58 from 'bs58'
import { describe, expect, it } from 'vitest'
import {
  type CommunityPaymentEvent,
  type HubNamePayment,
  transactionWithoutEvents,
} from '../../chains/solana/events.js'
import type { ListedDecodedTransaction } from '../../chains/solana/reads.js'
import {
  communityPaymentId,
  deriveQuoteId,
  paymentMessageId,
  paymentSourceId,
} from '../../registry/payment/quote.js'
import { nameToWord } from '../../registry/primitives/name.js'
import { PaymentSequenceTracker, type ProgramWithHoldingTime } from './check.js'

const word = (fill: number) => Buffer.alloc(32, fill)
const HELD_MS = 604_800_000
const identity: ProgramWithHoldingTime = {
  network: 'mainnet',
  genesisHash: word(1),
  programId: word(2),
  quoteKeys: [word(3)],
  heldMs: HELD_MS,
}
const payer = Buffer.from(Keypair.generate().publicKey.toBytes())
const PAID_S = 1_800_000_000
const RECLAIMABLE_AT = BigInt(PAID_S + HELD_MS / 1_000)

function paid(sequence: bigint): HubNamePayment {
  const terms = {
    payer,
    name: nameToWord('ann'),
    amountWei: 7n,
    lamports: 9n,
    expiresAt: 11n,
    referral: word(0),
  }
  return {
    ...terms,
    sequence,
    quoteId: deriveQuoteId(word(3), identity, terms),
    reclaimableAt: RECLAIMABLE_AT,
  }
}
const forCommunity = (
  sequence: bigint,
  changes: Partial<CommunityPaymentEvent> = {},
): CommunityPaymentEvent => ({
  sequence,
  payer,
  number: 2n ** 64n - 1n,
  token: null,
  amount: 5n,
  recipient: word(9),
  community: nameToWord('club'),
  name: nameToWord('ann'),
  referral: word(0),
  reclaimableAt: RECLAIMABLE_AT,
  ...changes,
})
const tx = (slot: number, events: Partial<ListedDecodedTransaction>): ListedDecodedTransaction => ({
  signature: bs58.encode(Buffer.alloc(64, slot)),
  slot,
  ...transactionWithoutEvents(true),
  ...events,
})
const trackerAt = (sequence = 0, communitySequence = 0) =>
  new PaymentSequenceTracker(identity, { sequence, communitySequence })
const nameId = (sequence: bigint) =>
  paymentMessageId(paymentSourceId(identity.genesisHash, identity.programId), sequence)
const communityId = (sequence: bigint) =>
  communityPaymentId(identity.genesisHash, identity.programId, sequence)
const stateOf = ({ known, isWhole }: PaymentSequenceTracker) => [
  known.sequence,
  known.communitySequence,
  isWhole,
]

describe('the payments of a program', () => {
  it('are returned in their stored form', () => {
    const token = word(6)
    const { payments } = trackerAt().advance([
      tx(7, {
        payments: [paid(1n)],
        communityPayments: [forCommunity(1n), forCommunity(2n, { token, referral: word(4) })],
      }),
    ])
    const origin = {
      tx: Buffer.alloc(64, 7),
      block: 7,
      blockHash: null,
      payer: Buffer.of(2, ...payer),
      paidMs: PAID_S * 1_000,
      referral: null,
    }
    const reclaimableMs = Number(RECLAIMABLE_AT) * 1_000
    const terms = { amountWei: 7n, expiresAt: 11, verdict: 'honoured', reclaimableMs }
    const name = { kind: 'name', name: nameToWord('ann'), ...terms }
    const target = {
      kind: 'communityName',
      community: nameToWord('club'),
      name: nameToWord('ann'),
      number: 2n ** 64n - 1n,
      recipient: bs58.encode(word(9)),
      reclaimableMs,
    }
    expect(payments).toMatchObject([
      {
        id: nameId(1n),
        sequence: 1,
        ...origin,
        money: { token: 'native', amount: 9n },
        target: name,
      },
      {
        id: communityId(1n),
        sequence: 1,
        ...origin,
        money: { token: 'native', amount: 5n },
        target,
      },
      {
        id: communityId(2n),
        sequence: 2,
        referral: word(4),
        money: { token: bs58.encode(token), amount: 5n },
      },
    ])
  })

  it('are counted separately by kind, each count with its gaps', () => {
    const tracker = trackerAt(3, 5)
    tracker.advance([
      tx(1, { payments: [paid(4n), paid(6n)], communityPayments: [forCommunity(6n)] }),
    ])
    expect(stateOf(tracker)).toEqual([4, 6, false])
    tracker.advance([tx(2, { payments: [paid(5n)], communityPayments: [forCommunity(8n)] })])
    expect(stateOf(tracker)).toEqual([6, 6, false])
    tracker.advance([tx(3, { communityPayments: [forCommunity(7n)] })])
    expect(stateOf(tracker)).toEqual([6, 8, true])
  })

  it('are returned once, however often a node lists them, and leave no gap', () => {
    const tracker = trackerAt()
    const twice = tx(1, { payments: [paid(1n)], communityPayments: [forCommunity(1n)] })
    expect(tracker.advance([twice, twice]).payments).toHaveLength(2)
    expect(tracker.hasRead(twice.signature)).toBe(true)
    expect(tracker.advance([twice]).payments).toHaveLength(2)
    expect(stateOf(tracker)).toEqual([1, 1, true])
    tracker.forgetRead(twice.slot)
    expect(tracker.hasRead(twice.signature)).toBe(true)
    tracker.forgetRead()
    expect(tracker.hasRead(twice.signature)).toBe(false)
  })
})

it.each<[string, string[], number, number, number | null]>([
  ['leaves out a payment', ['plain'], 0, 9, 7],
  ['has all of them', ['plain', 'paid'], 0, 9, null],
  ['leaves out what pays nothing', ['paid'], 0, 9, null],
  ['ends before the payment', ['plain'], 8, 9, null],
  ['may still be late', ['plain'], 0, 7, null],
])('a list that %s', (_, names, downToSlot, beforeSlot, slot) => {
  const tracker = trackerAt()
  const read = { plain: tx(6, {}), paid: tx(7, { payments: [paid(1n)] }) }
  tracker.advance(Object.values(read))
  const listed = names.map((name) => read[name as keyof typeof read])
  const leftOut = tracker.leftOutOf({ listed, newest: null, downToSlot }, beforeSlot)
  expect(leftOut).toBe(slot === null ? null : read.paid.signature)
})

describe('the outcome of payments', () => {
  it('is read from both kinds of events', () => {
    const { outcomes } = trackerAt(3, 3).advance([
      tx(9, {
        ends: (['name', 'communityName'] as const).flatMap((of) =>
          (['released', 'refused', 'reclaimed'] as const).map((outcome, i) => ({
            of,
            outcome,
            sequence: BigInt(i + 1),
          })),
        ),
      }),
    ])
    expect(outcomes).toEqual([
      { id: nameId(1n), outcome: 'released', block: 9 },
      { id: nameId(2n), outcome: 'refused', block: 9 },
      { id: nameId(3n), outcome: 'reclaimed', block: 9 },
      { id: communityId(1n), outcome: 'released', block: 9 },
      { id: communityId(2n), outcome: 'refused', block: 9 },
      { id: communityId(3n), outcome: 'reclaimed', block: 9 },
    ])
  })

  it('waits for the payment where a node listed that late', () => {
    const tracker = trackerAt()
    const refused = { of: 'communityName', outcome: 'refused', sequence: 1n } as const
    const early = { id: communityId(1n), outcome: 'refused', block: 4 }
    expect(tracker.advance([tx(4, { ends: [refused] })]).outcomes).toEqual([])
    expect(stateOf(tracker)).toEqual([0, 0, false])
    expect(tracker.advance([tx(2, { communityPayments: [forCommunity(2n)] })]).outcomes).toEqual([])
    expect(tracker.advance([tx(3, { communityPayments: [forCommunity(1n)] })]).outcomes).toEqual([
      early,
    ])
    expect(stateOf(tracker)).toEqual([0, 2, true])
    expect(tracker.advance([tx(5, {})]).outcomes).toEqual([])
  })

  it('is returned with a payment after a gap, and the cursor waits for the gap', () => {
    const tracker = trackerAt()
    const released = { of: 'name', outcome: 'released', sequence: 2n } as const
    expect(
      tracker.advance([tx(4, { payments: [paid(2n)] }), tx(5, { ends: [released] })]).outcomes,
    ).toEqual([{ id: nameId(2n), outcome: 'released', block: 5 }])
    expect(stateOf(tracker)).toEqual([0, 0, false])
  })
})
