import { describe, expect, it } from 'vitest'
import {
  type ChainTxState,
  type Confirmations,
  DROPPED_TX_GRACE_MS,
  decideTxStatus,
  type JournalledBid,
  type PacketOutcome,
  type SentPacket,
  type StatusAnswer,
  type TrackedTxState,
  type TxStatusInput,
  type UnconfirmedBid,
} from './status.js'

const NOW_MS = 1_000_000_000
const TOO_FEW_CONFIRMATIONS: Confirmations = { have: 1, need: 2 }
const ENOUGH_CONFIRMATIONS: Confirmations = { have: 5, need: 2 }

const input = (change: Partial<TxStatusInput> = {}): TxStatusInput => ({
  nowMs: NOW_MS,
  journal: [],
  tail: [],
  tailConfirmations: null,
  seen: { state: 'unknown' },
  tracked: null,
  ...change,
})
const won = (logIndex: number, name = `n${logIndex}`): JournalledBid => ({
  logIndex,
  name,
  outcome: 'won',
})
const LOST_STATUS = { status: 'lost_bid', reason: 'name_taken' } as const
const lost = (logIndex: number, name = `n${logIndex}`): JournalledBid => ({
  logIndex,
  name,
  outcome: 'lost',
})
const tail = (logIndex: number, leads: boolean): UnconfirmedBid => ({
  logIndex,
  block: 7,
  name: `n${logIndex}`,
  leads,
})
const mined = (change: Partial<Extract<ChainTxState, { state: 'mined' }>>): ChainTxState => ({
  state: 'mined',
  succeeded: true,
  isRegistration: true,
  confirmations: TOO_FEW_CONFIRMATIONS,
  isConfirmed: false,
  ...change,
})
const tracked = (change: Partial<TrackedTxState> = {}): TrackedTxState => ({
  lastSeenMs: NOW_MS,
  verdict: null,
  ...change,
})
const unseenFor = (ms: number) => ({ tracked: tracked({ lastSeenMs: NOW_MS - ms }) })
const PENDING_STATUS = { status: 'pending', confirmations: TOO_FEW_CONFIRMATIONS } as const
const REVERTED_TX = { succeeded: false, isRegistration: false }
/** Names in the form of a response. */
const named = <T extends string>(outcomes: Readonly<Record<string, T>>) =>
  Object.entries(outcomes).map(([name, outcome]) => ({ name, outcome }))

describe('status of a hub transaction', () => {
  it.each<[string, Partial<TxStatusInput>, StatusAnswer]>([
    ['nobody knows the hash', {}, { status: 'not_found' }],
    [
      'was in a mempool, unseen for less than 30 min',
      unseenFor(DROPPED_TX_GRACE_MS - 1),
      { status: 'pending' },
    ],
    [
      'was in a mempool, unseen for 30 min',
      unseenFor(DROPPED_TX_GRACE_MS),
      { status: 'not_found' },
    ],
    ['in a mempool', { seen: { state: 'mempool' } }, { status: 'pending' }],
    [
      'in a mempool again after long',
      { seen: { state: 'mempool' }, ...unseenFor(NOW_MS) },
      { status: 'pending' },
    ],
    ['mined, too few confirmations', { seen: mined({}) }, PENDING_STATUS],
    [
      'mined and confirmed, the indexer not there yet',
      { seen: mined({ isConfirmed: true, confirmations: ENOUGH_CONFIRMATIONS }) },
      { status: 'pending', confirmations: ENOUGH_CONFIRMATIONS },
    ],
    [
      'in the tail, its first name leading',
      { tail: [tail(9, false), tail(4, true)], tailConfirmations: TOO_FEW_CONFIRMATIONS },
      { ...PENDING_STATUS, step: 'leading', names: named({ n4: 'leading', n9: 'behind' }) },
    ],
    [
      'in the tail, its first name behind',
      { tail: [tail(4, false), tail(9, true)] },
      { status: 'pending', step: 'behind', names: named({ n4: 'behind', n9: 'leading' }) },
    ],
    ['confirmed, won', { journal: [won(4)] }, { status: 'finalized', names: named({ n4: 'won' }) }],
    ['confirmed, lost', { journal: [lost(4)] }, { ...LOST_STATUS, names: named({ n4: 'lost' }) }],
    [
      'confirmed, the lowest log index decides',
      { journal: [won(12), lost(4), won(7)] },
      { ...LOST_STATUS, names: named({ n4: 'lost', n7: 'won', n12: 'won' }) },
    ],
    [
      'confirmed, refused',
      { journal: [{ logIndex: 4, name: '0x00', outcome: 'refused', reason: 'malformed_name' }] },
      { status: 'invalid', reason: 'malformed_name', names: named({ '0x00': 'refused' }) },
    ],
    [
      'confirmed, refused for a reason that is not known',
      { journal: [{ logIndex: 4, name: 'n4', outcome: 'refused' }] },
      { status: 'invalid', names: named({ n4: 'refused' }) },
    ],
    ['reverted, unconfirmed', { seen: mined(REVERTED_TX) }, PENDING_STATUS],
    [
      'reverted',
      { seen: mined({ ...REVERTED_TX, isConfirmed: true }) },
      { status: 'invalid', reason: 'reverted' },
    ],
    ['not a registration, unconfirmed', { seen: mined({ isRegistration: false }) }, PENDING_STATUS],
    [
      'not a registration',
      { seen: mined({ isRegistration: false, isConfirmed: true }) },
      { status: 'invalid', reason: 'not_a_registration' },
    ],
    [
      'replaced by a cancel',
      { tracked: tracked({ verdict: 'replaced' }) },
      { status: 'invalid', reason: 'replaced' },
    ],
    [
      'invalid long ago and forgotten by the node',
      { nowMs: NOW_MS * 9, tracked: tracked({ verdict: 'reverted' }) },
      { status: 'invalid', reason: 'reverted' },
    ],
  ])('%s', (_, change, answer) => {
    expect(decideTxStatus(input(change))).toStrictEqual(answer)
  })
})

describe('status of a transaction on another chain', () => {
  const HUB_TX = '0xhub'
  const waiting: PacketOutcome = { state: 'under_way', failure: null }
  const packet = (change: Partial<SentPacket> = {}): SentPacket => ({
    logIndex: 2,
    source: { isConfirmed: true, confirmations: ENOUGH_CONFIRMATIONS },
    names: ['n4', 'n5'],
    hub: waiting,
    ...change,
  })
  const unconfirmed = { isConfirmed: false, confirmations: TOO_FEW_CONFIRMATIONS }
  const inTail = (...bids: UnconfirmedBid[]): PacketOutcome => ({
    state: 'tail',
    bids,
    confirmations: TOO_FEW_CONFIRMATIONS,
    hubTx: HUB_TX,
  })
  const inJournal = (...bids: JournalledBid[]): PacketOutcome => ({
    state: 'journal',
    bids,
    hubTx: HUB_TX,
  })
  const names = (...outcomes: string[]) =>
    outcomes.map((outcome, i) => ({ name: `n${i + 4}`, outcome }))

  const bridging = { status: 'bridging', names: names('bridging', 'bridging') }
  const notARegistration = { status: 'invalid', reason: 'not_a_registration' }

  it.each<[string, SentPacket[], Record<string, unknown>]>([
    [
      'unconfirmed on its chain',
      [packet({ source: unconfirmed })],
      { ...PENDING_STATUS, names: names('pending', 'pending') },
    ],
    [
      'unconfirmed on its chain, already failing to be delivered',
      [packet({ source: unconfirmed, hub: { state: 'under_way', failure: 'paused' } })],
      { ...PENDING_STATUS, names: names('pending', 'pending') },
    ],
    ['confirmed on its chain', [packet()], bridging],
    [
      'its delivery fails',
      [packet({ hub: { state: 'under_way', failure: 'the hub is paused' } })],
      { ...bridging, step: 'delivery_failed', reason: 'the hub is paused' },
    ],
    [
      'executed on the hub, unconfirmed',
      [packet({ hub: inTail(tail(5, false), tail(4, true)) })],
      {
        status: 'bridging',
        step: 'leading',
        confirmations: TOO_FEW_CONFIRMATIONS,
        names: names('leading', 'behind'),
        hubTx: HUB_TX,
      },
    ],
    [
      'executed on the hub by somebody quick, unconfirmed on both',
      [packet({ source: unconfirmed, hub: inTail(tail(4, false), tail(5, true)) })],
      {
        status: 'pending',
        step: 'behind',
        confirmations: TOO_FEW_CONFIRMATIONS,
        names: names('behind', 'leading'),
        hubTx: HUB_TX,
      },
    ],
    [
      'executed on the hub, none of its bids in sight',
      [packet({ hub: inTail() })],
      { ...bridging, confirmations: TOO_FEW_CONFIRMATIONS, hubTx: HUB_TX },
    ],
    [
      'executed on the hub, none of its bids in sight, with the confirmations of its own chain until those are enough',
      [
        packet({
          source: { isConfirmed: false, confirmations: ENOUGH_CONFIRMATIONS },
          hub: inTail(),
        }),
      ],
      {
        status: 'pending',
        names: names('pending', 'pending'),
        confirmations: ENOUGH_CONFIRMATIONS,
        hubTx: HUB_TX,
      },
    ],
    [
      'refused on the hub, unconfirmed',
      [packet({ names: [], hub: inTail() })],
      { status: 'bridging', confirmations: TOO_FEW_CONFIRMATIONS, hubTx: HUB_TX },
    ],
    [
      'won',
      [packet({ hub: inJournal(won(4), lost(5)) })],
      { status: 'finalized', names: names('won', 'lost'), hubTx: HUB_TX },
    ],
    [
      'lost its first name',
      [packet({ hub: inJournal(won(5), lost(4)) })],
      { ...LOST_STATUS, names: names('lost', 'won'), hubTx: HUB_TX },
    ],
    [
      'decided on the hub while unconfirmed on its chain',
      [packet({ source: unconfirmed, hub: inJournal(won(4), won(5)) })],
      { status: 'finalized', names: names('won', 'won'), hubTx: HUB_TX },
    ],
    [
      'its first bid refused by the hub',
      [
        packet({
          hub: inJournal(
            { logIndex: 4, name: 'n4', outcome: 'refused', reason: 'below_minimum' },
            won(5),
          ),
        }),
      ],
      { status: 'invalid', reason: 'below_minimum', names: names('refused', 'won'), hubTx: HUB_TX },
    ],
    [
      'refused by the hub as a whole',
      [packet({ names: [], hub: inJournal() })],
      { status: 'invalid', reason: 'message_refused', hubTx: HUB_TX },
    ],
    ['a withdrawal, unconfirmed', [packet({ names: null, source: unconfirmed })], PENDING_STATUS],
    [
      'a withdrawal before a message that is refused: the one that was meant to register decides',
      [
        packet({ logIndex: 1, names: null }),
        packet({ logIndex: 2, names: [], source: unconfirmed }),
      ],
      PENDING_STATUS,
    ],
    [
      'a withdrawal, and a message that is refused',
      [
        packet({ logIndex: 1, names: null, hub: inJournal() }),
        packet({ logIndex: 2, names: [], hub: inJournal() }),
      ],
      { status: 'invalid', reason: 'message_refused', hubTx: HUB_TX },
    ],
    ['a withdrawal', [packet({ names: null })], notARegistration],
    [
      'a withdrawal, executed',
      [packet({ names: null, hub: inJournal() })],
      { ...notARegistration, hubTx: HUB_TX },
    ],
    [
      'several messages: the first that asks for a name decides, all names are listed',
      [
        packet({ logIndex: 9, names: ['n5'], hub: inJournal(won(31, 'n5')) }),
        packet({ logIndex: 6, names: ['n4'] }),
        packet({ logIndex: 1, names: null, hub: inJournal() }),
        packet({ logIndex: 3, names: [], hub: inJournal() }),
      ],
      { status: 'bridging', names: names('bridging', 'won') },
    ],
    [
      'several messages in one hub transaction: the lowest log index of its own message decides',
      [
        packet({ logIndex: 6, names: ['n4'], hub: inJournal(lost(40, 'n4')) }),
        packet({ logIndex: 9, names: ['n5'], hub: inJournal(won(31, 'n5')) }),
      ],
      { ...LOST_STATUS, names: names('lost', 'won'), hubTx: HUB_TX },
    ],
    [
      'a payment that keeps to no quote of ours, unconfirmed',
      [packet({ names: ['n4'], refusal: 'quote_mismatch', source: unconfirmed })],
      { ...PENDING_STATUS, names: names('pending') },
    ],
    ...(['quote_mismatch', 'reclaimed'] as const).map(
      (reason): [string, SentPacket[], Record<string, unknown>] => [
        `a payment that is never relayed: ${reason}`,
        [packet({ names: ['n4'], refusal: reason })],
        { status: 'invalid', reason, names: names('refused') },
      ],
    ),
    [
      'several payments: the first decides, though the second won',
      [
        packet({ logIndex: 0, names: ['n4'], refusal: 'quote_mismatch' }),
        packet({ logIndex: 1, names: ['n5'], hub: inJournal(won(31, 'n5')) }),
      ],
      { status: 'invalid', reason: 'quote_mismatch', names: names('refused', 'won') },
    ],
    [
      'several payments: the second keeps to no quote',
      [
        packet({ logIndex: 1, names: ['n5'], refusal: 'quote_mismatch' }),
        packet({ logIndex: 0, names: ['n4'] }),
      ],
      { status: 'bridging', names: names('bridging', 'refused') },
    ],
    [
      'executed and confirmed, but its bids not all in sight: nothing terminal is said',
      [
        packet({ hub: inJournal() }),
        packet({ logIndex: 9, names: ['n6'], hub: inJournal(won(6)) }),
      ],
      { status: 'bridging', names: names('bridging', 'bridging', 'won') },
    ],
    ['one bid of two in sight', [packet({ hub: inJournal(won(4)) })], bridging],
  ])('%s', (_, packets, answer) => {
    expect(decideTxStatus(input({ packets }))).toStrictEqual(answer)
    expect(decideTxStatus(input({ packets: [...packets].reverse() }))).toStrictEqual(answer)
  })

  it.each<{ name: string; seen: Parameters<typeof decideTxStatus>[0]['seen'] }>([
    { name: 'failed', seen: mined({ succeeded: false, isConfirmed: true }) },
    { name: 'in the mempool', seen: { state: 'mempool' } },
  ])('depends on its logs, not on the node’s answer: $name', ({ seen }) => {
    expect(decideTxStatus(input({ packets: [packet()], seen })).status).toBe('bridging')
  })
})
