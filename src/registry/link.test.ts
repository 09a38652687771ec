import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type BidLog,
  type DeliveredLog,
  linkDelivered,
  linkReceived,
  type MessageBids,
  type MessageRefusedLog,
  type ReceivedLog,
} from './link.js'
import { bigIntToWord } from './primitives/bytes.js'
import { nameToWord } from './primitives/name.js'

const word = (n: number) => bigIntToWord(BigInt(n))
const guidOf = (n: number) => Buffer.alloc(32, n + 1)

/** What happened in a hub transaction, in order. */
type Act =
  | { kind: 'direct'; from: number; names: number; referral: boolean }
  | { kind: 'message'; from: number; names: number; referral: boolean }
  | { kind: 'refused'; from: number }
  | { kind: 'withdrawal'; from: number; reentrant: number }
  | { kind: 'foreign' }

const from = fc.nat(2)
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    kind: fc.constant('direct' as const),
    from,
    names: fc.integer({ min: 1, max: 3 }),
    referral: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant('message' as const),
    from,
    names: fc.integer({ min: 1, max: 3 }),
    referral: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('refused' as const), from }),
  fc.record({ kind: fc.constant('withdrawal' as const), from, reentrant: fc.nat(2) }),
  fc.record({ kind: fc.constant('foreign' as const) }),
)
const acts = fc.array(act, { maxLength: 12 })

type OurLog = BidLog | ReceivedLog | MessageRefusedLog

/** The logs that such a transaction leaves, and which bid belongs to whom. */
function play(list: readonly Act[]) {
  const ours: OurLog[] = []
  const theirs: (BidLog | DeliveredLog)[] = []
  const messages = new Map<string, MessageBids>()
  const owned = new Map<string, number[]>()
  const direct: number[] = []
  let logIndex = 3
  let amount = 0
  const bid = (a: { from: number; referral?: boolean }): BidLog => {
    // names and amounts repeat, so that a wrong link is not told from a right one by its content alone
    amount = (amount + 1) % 3
    const log: BidLog = {
      kind: 'bid',
      logIndex: logIndex++,
      from: word(a.from),
      amountWei: BigInt(amount),
      nameWord: nameToWord(`n${amount}`),
      referral: a.referral ? word(9) : null,
    }
    ours.push(log)
    theirs.push(log)
    return log
  }
  list.forEach((a, n) => {
    const guid = guidOf(n)
    if (a.kind === 'direct') {
      for (let i = 0; i < a.names; i++) direct.push(bid(a).logIndex)
      return
    }
    if (a.kind === 'foreign') {
      theirs.push({ kind: 'delivered', logIndex: logIndex++, guid: null })
      return
    }
    const bids = a.kind === 'message' ? Array.from({ length: a.names }, () => bid(a)) : []
    // whoever is paid a refund may bid, directly, before the message ends
    if (a.kind === 'withdrawal') for (let i = 0; i < a.reentrant; i++) direct.push(bid({ from: 2 }).logIndex)
    if (a.kind === 'refused') ours.push({ kind: 'message_refused', logIndex: logIndex++, guid })
    ours.push({ kind: 'received', logIndex: logIndex++, guid, from: word(a.from), bids: BigInt(bids.length) })
    theirs.push({ kind: 'delivered', logIndex: logIndex++, guid })
    owned.set(
      guid.toString('hex'),
      bids.map((log) => log.logIndex),
    )
    const referral = a.kind === 'message' && a.referral ? word(9) : null
    messages.set(guid.toString('hex'), { from: word(a.from), bids, referral })
  })
  return { ours, theirs, messages, owned, direct }
}

describe('linkReceived', () => {
  it('gives each message its own bids, and leaves the direct ones', () => {
    fc.assert(
      fc.property(acts, (list) => {
        const { ours, owned, direct } = play(list)
        const { links, alarms, direct: left } = linkReceived(ours)
        expect(alarms).toEqual([])
        expect(new Map(links.map((link) => [link.guid.toString('hex'), link.bids]))).toEqual(owned)
        expect(left).toEqual(direct)
        const refused = list.flatMap((a, n) => (a.kind === 'refused' ? [guidOf(n)] : []))
        expect(links.filter((link) => link.isRefused).map((link) => link.guid)).toEqual(refused)
      }),
      { numRuns: 500 },
    )
  })

  it('never gives a bid to two messages, whatever the logs', () => {
    const log: fc.Arbitrary<OurLog> = fc.oneof(
      fc.record({
        kind: fc.constant('bid' as const),
        logIndex: fc.constant(0),
        from: from.map(word),
        amountWei: fc.constant(1n),
        nameWord: fc.constant(nameToWord('a')),
        referral: fc.constant(null),
      }),
      fc.record({
        kind: fc.constant('received' as const),
        logIndex: fc.constant(0),
        guid: fc.nat(5).map(guidOf),
        from: from.map(word),
        bids: fc.oneof(fc.bigInt({ min: 0n, max: 4n }), fc.constant(2n ** 255n)),
      }),
    )
    fc.assert(
      fc.property(fc.array(log, { maxLength: 20 }), (logs) => {
        const numbered = logs.map((entry, logIndex) => ({ ...entry, logIndex }))
        const { links, alarms, direct } = linkReceived(numbered)
        const given = [...links.flatMap((link) => link.bids), ...direct].sort((a, b) => a - b)
        expect(given).toEqual(numbered.filter((entry) => entry.kind === 'bid').map((entry) => entry.logIndex))
        expect(links.length + alarms.length).toBe(numbered.filter((entry) => entry.kind === 'received').length)
      }),
    )
  })

  it('raises an alarm when logs are missing or name another sender', () => {
    const { ours } = play([{ kind: 'message', from: 1, names: 2, referral: false }])
    const received = ours[2] as ReceivedLog
    expect(linkReceived(ours.slice(1))).toMatchObject({ links: [], alarms: [{ problem: 'missing_bids' }], direct: [4] })
    expect(linkReceived([ours[0]!, ours[1]!, { ...received, from: word(2) }])).toMatchObject({
      links: [],
      alarms: [{ guid: guidOf(0), problem: 'other_sender' }],
      direct: [3, 4],
    })
  })
})

describe('linkDelivered', () => {
  it('gives each packet its own bids, and leaves the direct ones', () => {
    fc.assert(
      fc.property(acts, (list) => {
        const { theirs, messages, owned, direct } = play(list)
        const result = linkDelivered(theirs, (guid) => messages.get(guid.toString('hex')) ?? null)
        expect(result.alarms).toEqual([])
        expect(new Map(result.links.map((link) => [link.guid.toString('hex'), link.bids]))).toEqual(owned)
        expect([...result.direct].sort((a, b) => a - b)).toEqual(direct)
      }),
      { numRuns: 500 },
    )
  })

  const message = (names: number): Act => ({ kind: 'message', from: 1, names, referral: true })
  const linked = (change: (message: MessageBids) => MessageBids | null, list = [message(2)]) => {
    const { theirs, messages } = play(list)
    return linkDelivered(theirs, (guid) => change(messages.get(guid.toString('hex'))!))
  }

  it.each<[string, string, (message: MessageBids) => MessageBids | null]>([
    ['an unknown packet', 'unknown_message', () => null],
    ['another sender', 'other_bids', (m) => ({ ...m, from: word(2) })],
    ['another referral', 'other_bids', (m) => ({ ...m, referral: word(8) })],
    ['no referral', 'other_bids', (m) => ({ ...m, referral: null })],
    ['another order', 'other_bids', (m) => ({ ...m, bids: [...m.bids].reverse() })],
    ['another amount', 'other_bids', (m) => ({ ...m, bids: m.bids.map((b) => ({ ...b, amountWei: 99n })) })],
    ['another name', 'other_bids', (m) => ({ ...m, bids: m.bids.map((b) => ({ ...b, nameWord: nameToWord('x') })) })],
    ['more bids than were logged', 'missing_bids', (m) => ({ ...m, bids: [...m.bids, m.bids[0]!] })],
  ])('raises an alarm and links nothing for %s', (_, problem, change) => {
    expect(linked(change)).toMatchObject({ links: [], alarms: [{ guid: guidOf(0), problem }], direct: [3, 4] })
  })

  it('never reaches behind the previous delivery', () => {
    const list = [message(2), message(1)]
    const { links, alarms } = linked((m) => (m.bids.length === 1 ? { ...m, bids: [...m.bids, ...m.bids] } : m), list)
    expect(links.map((link) => link.bids)).toEqual([[3, 4]])
    expect(alarms).toMatchObject([{ guid: guidOf(1), problem: 'missing_bids' }])
  })

  it('takes any amount for a bid whose message names none', () => {
    const { links } = linked((m) => ({ ...m, bids: m.bids.map((b) => ({ ...b, amountWei: null })) }))
    expect(links.map((link) => link.bids)).toEqual([[3, 4]])
  })
})
