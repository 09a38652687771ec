/** Arbitrary calls of the hub, by anybody, with amounts of any size. */
import fc from 'fast-check'
import { bytesToHex, concatHex, type Hex, toHex, zeroHash } from 'viem'
import { tagged } from '../../support/arbitraries.js'
import { MINIMUM_WEI, nameOf, placeBids, withdrawRefund } from './hub.js'
import type { ModelBid } from './hubModel.js'

/** Accounts that call: see `callersOf` in the fuzz test. */
const CALLERS = 8
/** Receivers of money: see `receiversOf` in the fuzz test. */
const RECEIVERS = 6
/** Larger values of a call are not possible: accounts hold more, but anvil accepts no value above 128 bits. */
export const MOST_WEI = 2n ** 120n
const MAX_WORD = 2n ** 256n - 1n
const REFERRAL: Hex = `0x${'ab'.repeat(32)}`

export const encodeBids = (bids: readonly ModelBid[], referral: Hex): Hex =>
  placeBids(
    bids.map(({ amount }) => amount),
    bids.map(({ name }) => name),
    referral === zeroHash ? undefined : referral,
  )

// Few names, so that most are contended; words of any bytes beside them.
const name = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('a', 'b-1', '_', '0123456789abcdefghijklmnopqrstuv').map(nameOf),
  },
  { weight: 1, arbitrary: fc.constantFrom('', 'A', 'a b', 'a\0b', 'é', '{').map(nameOf) },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bytesToHex(bytes)),
  },
)
/** Any size up to 2^256 - 1, by its number of bits. */
const anyAmount = fc
  .tuple(fc.nat(256), fc.constantFrom(-1n, 0n, 1n))
  .map(([bits, off]) => 2n ** BigInt(bits) + off)
  .filter((amount) => amount >= 0n && amount <= MAX_WORD)
const amount = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt(MINIMUM_WEI, 20n * MINIMUM_WEI) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, MINIMUM_WEI - 1n, MINIMUM_WEI) },
  { weight: 2, arbitrary: anyAmount },
)
const bids = fc.array(fc.record({ amount, name }), { minLength: 1, maxLength: 5 })
const referral = fc.constantFrom(zeroHash, REFERRAL)
const who = fc.nat(CALLERS - 1)
const receiver = fc.nat(RECEIVERS - 1)
const eid = fc.nat(1)
/** Value sent in addition to the sum. */
const excess = fc.oneof(
  { weight: 7, arbitrary: fc.constant(0n) },
  { weight: 1, arbitrary: fc.constantFrom(1n, -1n) },
)
const little = fc.bigInt(0n, 5n)

const oddWord = fc.oneof(
  fc.constantFrom(
    0n,
    1n,
    31n,
    32n,
    33n,
    64n,
    96n,
    128n,
    100n,
    101n,
    2n ** 64n,
    2n ** 251n + 1n,
    MAX_WORD,
  ),
  fc.constantFrom(2n ** 256n - 32n, 2n ** 255n, 2n ** 160n),
)
/** Calldata of a right call, with words replaced, cut short or extended; or just bytes. */
const brokenCalldata = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => bytesToHex(bytes)),
  fc
    .record({
      call: fc.oneof(
        bids.map((bids) => encodeBids(bids, zeroHash)),
        bids.map((bids) => encodeBids(bids, REFERRAL)),
        fc.constantFrom<Hex>('0x00000000000000000000000000000000000000e0').map(withdrawRefund),
      ),
      words: fc.array(fc.record({ at: fc.nat(12), value: oddWord }), { maxLength: 2 }),
      cut: fc.option(fc.nat(400), { nil: undefined }),
      tail: fc.uint8Array({ maxLength: 40 }).map((bytes) => bytesToHex(bytes)),
    })
    .map(({ call, words, cut, tail }) => {
      const bytes = Buffer.from(call.slice(2), 'hex')
      for (const { at, value } of words) {
        if (4 + 32 * at + 32 <= bytes.length)
          bytes.write(toHex(value, { size: 32 }).slice(2), 4 + 32 * at, 'hex')
      }
      return concatHex([bytesToHex(bytes.subarray(0, cut)), tail])
    }),
)

/** Who a payment on another chain is from: some caller, a key of 32 bytes, or nobody. */
const payer = fc.oneof(
  { weight: 6, arbitrary: who },
  { weight: 1, arbitrary: fc.constantFrom<Hex>(`0x${'51'.repeat(32)}`, zeroHash) },
)
const delivery = fc.record({
  source: fc.nat(1),
  sequence: fc.constantFrom(0n, 1n, 2n, 3n, 255n, 256n, 257n, 2n ** 63n, 2n ** 64n - 1n),
  payer,
  bids: fc.oneof(
    { weight: 12, arbitrary: bids },
    {
      weight: 1,
      arbitrary: fc.constantFrom<readonly ModelBid[]>(
        [],
        Array(101).fill({ amount: 1n, name: zeroHash }),
      ),
    },
  ),
  referral,
})

/** Mostly the role itself, else anybody. */
const as = (role: number) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(role) }, { weight: 1, arbitrary: who })
const OWNER = 0
const RELAYER = 1
const PAUSER = 2
const ALICE = 3
const BOB = 4
const DEAF_CALLER = 5
const GREEDY_CALLER = 6
/** A receiver that takes no money. */
const DEAF = 3

const minimumWei = fc.oneof(fc.constantFrom(MINIMUM_WEI, 0n, 2n ** 88n - 1n, 2n ** 88n), anyAmount)
const of = tagged('kind')

const steps = {
  direct: of('direct', { who, bids, referral, excess }),
  single: of('single', { who, bid: fc.record({ amount, name }), referral }),
  bridged: of('bridged', { eid, payer, bids, referral, excess }),
  broken: of('broken', { eid, payer, hubCalldata: brokenCalldata, value: little }),
  forged: of('forged', {
    who,
    bids,
    wrong: fc.constantFrom('endpoint' as const, 'eid' as const, 'peer' as const),
  }),
  delivered: of('delivered', {
    who: as(RELAYER),
    deliveries: fc.array(delivery, { maxLength: 4 }),
  }),
  withdrawn: of('withdrawn', { who, receiver }),
  withdrawnFor: of('withdrawnFor', { who, account: who }),
  withdrawnByMessage: of('withdrawnByMessage', { eid, payer, receiver, value: little }),
  keptWithdrawn: of('keptWithdrawn', { who: as(OWNER), receiver }),
  forced: of('forced', { value: little }),
  paused: of('paused', { who: as(PAUSER) }),
  unpaused: of('unpaused', { who: as(OWNER) }),
  minimumSet: of('minimumSet', { who: as(OWNER), value: minimumWei }),
  limitSet: of('limitSet', { who: as(OWNER), value: anyAmount }),
  relayerSet: of('relayerSet', { who: as(OWNER), relayer: fc.constantFrom(1, 1, 3) }),
}
/** Weights of rare steps, which make most later steps revert. */
const RARE: Readonly<Record<string, number>> = {
  paused: 3,
  unpaused: 6,
  minimumSet: 3,
  limitSet: 3,
  relayerSet: 3,
  forged: 3,
  forced: 3,
}

export const step = fc.oneof(
  ...Object.entries(steps).map(([kind, arbitrary]) => ({
    weight: RARE[kind] ?? 10,
    arbitrary: arbitrary as fc.Arbitrary<Step>,
  })),
)
export type Step = {
  [K in keyof typeof steps]: (typeof steps)[K] extends fc.Arbitrary<infer T> ? T : never
}[keyof typeof steps]
export const KINDS = Object.keys(steps) as Step['kind'][]

const [A, B, ODD] = ['a', 'b-1', 'a b'].map(nameOf) as [Hex, Hex, Hex]
const bid = (name = A, amount = MINIMUM_WEI): ModelBid => ({ amount, name })
type Excess = 0n | 1n | -1n
const plain = { referral: zeroHash, excess: 0n } as const
const single = (who: number, ...of: Parameters<typeof bid>): Step => ({
  ...plain,
  kind: 'single',
  who,
  bid: bid(...of),
})
const direct = (who: number, bids: ModelBid[], excess: Excess = 0n, of: Hex = zeroHash): Step => ({
  kind: 'direct',
  who,
  bids,
  referral: of,
  excess,
})
const from = { eid: 0, payer: ALICE } as const
const bridged = (bids: ModelBid[], excess: Excess = 0n, of: Hex = zeroHash): Step => ({
  ...from,
  kind: 'bridged',
  bids,
  referral: of,
  excess,
})
const broken = (hubCalldata: Hex, value: bigint): Step => ({
  ...from,
  kind: 'broken',
  hubCalldata,
  value,
})
const forged = (wrong: 'endpoint' | 'eid' | 'peer'): Step => ({
  kind: 'forged',
  who: ALICE,
  bids: [bid()],
  wrong,
})
const paid = { source: 0, sequence: 0n, payer: ALICE, bids: [bid()], referral: zeroHash } as const
const delivered = (...deliveries: readonly Partial<Delivered>[]): Step => ({
  kind: 'delivered',
  who: RELAYER,
  deliveries: deliveries.map((one) => ({ ...paid, ...one })),
})
type Delivered = Extract<Step, { kind: 'delivered' }>['deliveries'][number]
const withdrawn = (who: number, to: number): Step => ({ kind: 'withdrawn', who, receiver: to })
const withdrawnFor = (account: number): Step => ({ kind: 'withdrawnFor', who: OWNER, account })
const byMessage = (to: number, value: bigint, over = 0): Step => ({
  kind: 'withdrawnByMessage',
  eid: over,
  payer: ALICE,
  receiver: to,
  value,
})
const keptWithdrawn = (who: number, to: number): Step => ({
  kind: 'keptWithdrawn',
  who,
  receiver: to,
})
const paused = (who: number): Step => ({ kind: 'paused', who })
const unpaused = (who: number): Step => ({ kind: 'unpaused', who })
const hundred = Array.from({ length: 100 }, (_, i) => bid(nameOf(`n${i}`)))
const tooMany = [...hundred, bid(B)]
const tooMuch = [bid(A, 2n ** 255n), bid(B, 2n ** 255n)]

/** Cases with their titles. Together, every kind of step succeeds and, where it can, reverts. */
export const EXAMPLES: readonly (readonly [string, readonly Step[]])[] = [
  [
    'a bid that comes second is credited, its own bidder`s too, and paid back once',
    [
      single(ALICE),
      single(BOB, A, 3n * MINIMUM_WEI),
      single(ALICE),
      withdrawn(BOB, 0),
      withdrawn(BOB, 0),
    ],
  ],
  [
    'a batch is judged name by name, and wins a name that it repeats once',
    [
      single(BOB, B),
      direct(ALICE, [bid(), bid(B), bid(), bid(nameOf('_'))], 0n, REFERRAL),
      withdrawn(ALICE, 1),
    ],
  ],
  [
    'a bid is refused for its name or its amount, a batch for its size, its sum or the money with it',
    [
      ...[
        single(ALICE, ODD),
        single(ALICE, zeroHash),
        single(ALICE, A, MINIMUM_WEI - 1n),
        direct(ALICE, [bid(), bid(ODD)]),
      ],
      ...[
        direct(ALICE, [bid(), bid(B, 1n)]),
        direct(ALICE, []),
        direct(ALICE, tooMany),
        direct(ALICE, tooMuch),
      ],
      ...[direct(ALICE, [bid()], 1n), direct(ALICE, [bid()], -1n), direct(ALICE, hundred)],
    ],
  ],
  [
    'bids in a message are judged alone, and what loses or is refused is credited to its chain',
    [
      ...[
        single(BOB),
        bridged([bid(), bid(ODD, 5n), bid(B, 7n), bid(B)], 0n, REFERRAL),
        bridged(hundred),
      ],
      ...[bridged([bid()], -1n), bridged([bid()], 1n), broken(encodeBids([bid()], zeroHash), 5n)],
      ...[forged('peer'), forged('eid'), forged('endpoint')],
    ],
  ],
  [
    'a message that is no call the hub takes is credited whole, and one of nobody is kept',
    [
      ...[
        broken('0x', 5n),
        broken(encodeBids(tooMuch, zeroHash), 0n),
        broken(encodeBids(tooMany, REFERRAL), 1n),
      ],
      ...[{ ...broken('0x', 5n), payer: zeroHash } as Step, keptWithdrawn(OWNER, 0)],
    ],
  ],
  [
    'a delivery is taken once, credits nothing, and reverts in bad form or beyond the limit',
    [
      ...[
        single(BOB),
        delivered({ bids: [bid(), bid(ODD), bid(B, 1n), bid(B)], referral: REFERRAL }),
      ],
      ...[
        delivered(
          { sequence: 1n, bids: [bid(nameOf('_'))] },
          { source: 1 },
          { source: 1, bids: [bid(B)] },
          {},
        ),
      ],
      ...[
        delivered(),
        delivered({ sequence: 2n, bids: [] }),
        delivered({ sequence: 2n, bids: tooMuch }),
      ],
      ...[
        delivered({ sequence: 2n }, { sequence: 3n, payer: zeroHash }),
        { ...delivered(), who: ALICE } as Step,
      ],
      ...[
        { kind: 'limitSet', who: OWNER, value: 3n * MINIMUM_WEI } as const,
        delivered({ sequence: 2n, bids: hundred }),
      ],
      ...[
        delivered({ sequence: 3n, bids: [bid(nameOf('x'))] }),
        delivered({ sequence: 2n, bids: [bid(nameOf('y'))] }),
      ],
    ],
  ],
  [
    'a withdrawal reaches what came from its own chain alone, once, also while paused',
    [
      ...[
        single(BOB),
        single(ALICE),
        bridged([bid()]),
        { ...broken('0x', 5n), eid: 1 } as Step,
        paused(PAUSER),
      ],
      ...[
        byMessage(0, 0n, 1),
        byMessage(1, 50n),
        byMessage(1, 0n),
        withdrawnFor(ALICE),
        withdrawnFor(ALICE),
      ],
    ],
  ],
  [
    'money that a receiver refuses stays credited, and one that calls back is paid once',
    [
      ...[
        single(BOB),
        single(DEAF_CALLER),
        single(GREEDY_CALLER),
        single(ALICE),
        bridged([bid()]),
        withdrawnFor(DEAF_CALLER),
      ],
      ...[
        withdrawn(DEAF_CALLER, 4),
        withdrawn(DEAF_CALLER, 5),
        withdrawn(ALICE, DEAF),
        byMessage(DEAF, 1n),
      ],
      ...[
        withdrawn(GREEDY_CALLER, 2),
        withdrawn(DEAF_CALLER, 2),
        byMessage(2, 1n),
        withdrawn(ALICE, 1),
      ],
    ],
  ],
  [
    'what is kept, forced in too, is the owner`s, who never touches what is owed',
    [
      ...[
        single(BOB),
        single(ALICE),
        { kind: 'forced', value: 3n } as const,
        keptWithdrawn(ALICE, 0),
      ],
      ...[
        keptWithdrawn(OWNER, 5),
        keptWithdrawn(OWNER, DEAF),
        paused(PAUSER),
        keptWithdrawn(OWNER, 0),
        withdrawn(ALICE, 1),
      ],
    ],
  ],
  [
    'a paused hub refuses bids and credits those in messages; the owner lets it go on',
    [
      ...[
        paused(ALICE),
        paused(PAUSER),
        paused(OWNER),
        single(ALICE),
        direct(ALICE, [bid()]),
        delivered(),
      ],
      ...[
        bridged([bid(), bid(ODD), bid(B, 7n)]),
        bridged([bid()], 1n),
        unpaused(ALICE),
        unpaused(PAUSER),
      ],
      ...[unpaused(OWNER), unpaused(OWNER), single(ALICE), paused(OWNER)],
    ],
  ],
  [
    'a setting is the owner`s, and counts at once',
    [
      ...[0n, 2n ** 88n, 2n ** 88n - 1n].map(
        (value): Step => ({ kind: 'minimumSet', who: OWNER, value }),
      ),
      ...[
        single(ALICE),
        { kind: 'minimumSet', who: OWNER, value: 5n } as const,
        single(ALICE, A, 5n),
      ],
      ...([
        { kind: 'minimumSet', who: ALICE, value: 1n },
        { kind: 'limitSet', who: ALICE, value: 0n },
      ] as const),
      ...([
        { kind: 'relayerSet', who: ALICE, relayer: ALICE },
        { kind: 'relayerSet', who: OWNER, relayer: ALICE },
      ] as const),
      ...[delivered(), { ...delivered(), who: ALICE } as Step],
    ],
  ],
]
