/** Arbitrary calls of the hub, by anybody, with amounts of any size. */
import fc from 'fast-check'
import { bytesToHex, concatHex, type Hex, toHex, zeroHash } from 'viem'
import { MINIMUM_WEI, nameOf, placeBids, withdrawRefund } from './hub.js'
import type { ModelBid } from './model.js'

/** Accounts that call: see `callersOf` in the fuzz test. */
const CALLERS = 8
/** Receivers of money: see `receiversOf` in the fuzz test. */
const RECEIVERS = 6
/** More than this is no value of a call: accounts hold more, and anvil takes no value beyond 128 bits. */
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
  { weight: 6, arbitrary: fc.constantFrom('a', 'b-1', '_', '0123456789abcdefghijklmnopqrstuv').map(nameOf) },
  { weight: 1, arbitrary: fc.constantFrom('', 'A', 'a b', 'a\0b', 'é', '{').map(nameOf) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bytesToHex(bytes)) },
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
/** Value sent beyond the sum. */
const excess = fc.oneof({ weight: 7, arbitrary: fc.constant(0n) }, { weight: 1, arbitrary: fc.constantFrom(1n, -1n) })
const little = fc.bigInt(0n, 5n)

const oddWord = fc.oneof(
  fc.constantFrom(0n, 1n, 31n, 32n, 33n, 64n, 96n, 128n, 100n, 101n, 2n ** 64n, 2n ** 251n + 1n, MAX_WORD),
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
        if (4 + 32 * at + 32 <= bytes.length) bytes.write(toHex(value, { size: 32 }).slice(2), 4 + 32 * at, 'hex')
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
    { weight: 1, arbitrary: fc.constantFrom<readonly ModelBid[]>([], Array(101).fill({ amount: 1n, name: zeroHash })) },
  ),
  referral,
})

/** Mostly the role itself, else anybody. */
const as = (role: number) => fc.oneof({ weight: 5, arbitrary: fc.constant(role) }, { weight: 1, arbitrary: who })
const [OWNER, RELAYER, PAUSER, ALICE] = [0, 1, 2, 3] as const
/** A receiver that takes no money. */
const DEAF = 3

const minimumWei = fc.oneof(fc.constantFrom(MINIMUM_WEI, 0n, 2n ** 88n - 1n, 2n ** 88n), anyAmount)
const of = <K extends string, T>(kind: K, parts: { [P in keyof T]: fc.Arbitrary<T[P]> }) =>
  fc.record({ kind: fc.constant(kind), ...parts } as never) as fc.Arbitrary<{ kind: K } & T>

const steps = {
  direct: of('direct', { who, bids, referral, excess }),
  single: of('single', { who, bid: fc.record({ amount, name }), referral }),
  bridged: of('bridged', { eid, payer, bids, referral, excess }),
  broken: of('broken', { eid, payer, hubCalldata: brokenCalldata, value: little }),
  forged: of('forged', { who, bids, wrong: fc.constantFrom('endpoint' as const, 'eid' as const, 'peer' as const) }),
  delivered: of('delivered', { who: as(RELAYER), deliveries: fc.array(delivery, { maxLength: 4 }) }),
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
/** Rare beside the others, since they stop most of what comes after them. */
const RARE: ReadonlySet<string> = new Set(['paused', 'minimumSet', 'limitSet', 'relayerSet', 'forged', 'forced'])

export const step = fc.oneof(
  ...Object.entries(steps).map(([kind, arbitrary]) => ({
    weight: kind === 'unpaused' ? 6 : RARE.has(kind) ? 3 : 10,
    arbitrary: arbitrary as fc.Arbitrary<Step>,
  })),
)
export type Step = {
  [K in keyof typeof steps]: (typeof steps)[K] extends fc.Arbitrary<infer T> ? T : never
}[keyof typeof steps]
export const KINDS = Object.keys(steps) as Step['kind'][]

/** Each kind that goes through and, where it can revert, that reverts: a random run may lack the rarer ones. */
export const OPENING: readonly Step[] = (() => {
  const [bid, other] = ['a', 'b-1'].map((text) => ({ amount: MINIMUM_WEI, name: nameOf(text) })) as [ModelBid, ModelBid]
  const more = { ...bid, amount: 2n * MINIMUM_WEI }
  const tooLow = { ...other, amount: 0n }
  const plain = { who: ALICE, referral: zeroHash, excess: 0n } as const
  const bridged = { eid: 0, payer: ALICE } as const
  const paid = { source: 0, sequence: 0n, payer: ALICE, bids: [bid, tooLow], referral: zeroHash } as const
  return [
    { ...plain, kind: 'direct', bids: [bid, more] },
    { ...plain, kind: 'direct', bids: [more], excess: 1n },
    { ...plain, kind: 'single', bid: other },
    { ...plain, kind: 'single', bid: tooLow },
    { ...plain, ...bridged, kind: 'bridged', bids: [bid, tooLow] },
    { ...plain, ...bridged, kind: 'bridged', bids: [bid], excess: -1n },
    { ...bridged, kind: 'broken', hubCalldata: '0x', value: 5n },
    { ...bridged, kind: 'broken', hubCalldata: encodeBids([{ ...other, amount: 2n ** 255n }], zeroHash), value: 0n },
    { kind: 'forged', who: ALICE, bids: [bid], wrong: 'peer' },
    { kind: 'delivered', who: RELAYER, deliveries: [paid, { ...paid, source: 1 }, paid] },
    { kind: 'delivered', who: ALICE, deliveries: [] },
    { kind: 'withdrawnByMessage', ...bridged, receiver: DEAF, value: 1n },
    { kind: 'withdrawnByMessage', ...bridged, receiver: 0, value: 1n },
    { kind: 'withdrawn', who: ALICE, receiver: DEAF },
    { kind: 'withdrawn', who: ALICE, receiver: 1 },
    { ...plain, kind: 'direct', bids: [bid] },
    { kind: 'withdrawnFor', who: OWNER, account: ALICE },
    { kind: 'withdrawnFor', who: OWNER, account: ALICE },
    { kind: 'forced', value: 3n },
    { kind: 'keptWithdrawn', who: ALICE, receiver: 0 },
    { kind: 'keptWithdrawn', who: OWNER, receiver: 0 },
    { kind: 'minimumSet', who: OWNER, value: MINIMUM_WEI },
    { kind: 'minimumSet', who: OWNER, value: 2n ** 88n },
    { kind: 'limitSet', who: OWNER, value: MINIMUM_WEI },
    { kind: 'limitSet', who: ALICE, value: 0n },
    { kind: 'relayerSet', who: OWNER, relayer: ALICE },
    { kind: 'relayerSet', who: ALICE, relayer: ALICE },
    { kind: 'paused', who: ALICE },
    { kind: 'paused', who: PAUSER },
    { ...plain, ...bridged, kind: 'bridged', bids: [other, tooLow] },
    { kind: 'unpaused', who: ALICE },
    { kind: 'unpaused', who: OWNER },
  ]
})()
