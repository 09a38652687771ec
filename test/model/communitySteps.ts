import fc from 'fast-check'
import { requirementsHash } from '../../src/registry/community/requirements.js'
import type { CommunityRules } from '../../src/registry/community/rules.js'
import { encodeChange } from '../../src/registry/journal/change.js'
import type { Entry } from '../../src/registry/journal/entry.js'
import { encodePayment } from '../../src/registry/journal/payment.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import {
  entryOf as entryOfCluster,
  NAMES,
  type Origin,
  of,
  type Step,
  step,
  WALLET_NAMES,
  WALLETS,
} from './clusterSteps.js'

/** Steps of communities, by small numbers: wallets, rules of `RULES`, requirements of `REQUIREMENTS`. */
export type CommunityStep =
  | Step
  /** w null: the operator. */
  | { do: 'configure'; w: number | null; name: string; rules: number }
  | {
      do: 'register'
      w: number
      of: number
      name: string
      below: string
      /** Requirements that the wallet meets. */
      met: number | null
      isAssigned: boolean
    }
  | {
      do: 'pay'
      w: number
      name: string
      below: string
      to: number
      amount: number
      /** Age of the block, minutes. */
      ago: number
      met: number | null
    }

const MINUTE_MS = 60_000
const T0 = Date.UTC(2026, 10, 20, 8)
/** Time at which step i is entered. */
export const msAt = (i: number): number => T0 + i * 10 * MINUTE_MS + 500
/** The time of a payment's block, in whole seconds. */
export const blockMsOf = (ago: number, i: number): number => msAt(i) - 500 - ago * MINUTE_MS

const EVM = '0x00000000000000000000000000000000000000a1'
const SOLANA = 'So11111111111111111111111111111111111111112'
/** Recipients of payments; no price names the last. */
const TARGETS = [
  { network: '1', token: 'native', recipient: EVM },
  { network: 'solana', token: 'native', recipient: SOLANA },
  { network: '8453', token: 'native', recipient: EVM },
] as const
const REQUIREMENTS: readonly CommunityRules['requirements'][] = [
  [],
  [{ kind: 'allowlist', addresses: [EVM] }],
  [{ kind: 'cluster', name: 'foo' }],
]
const hashOf = (met: number | null): Buffer | null =>
  met === null ? null : requirementsHash(REQUIREMENTS[met]!)
/** Number of the requirements whose hash an account is. Claims are distinguished by it. */
export const claimNumber = (account: Buffer | null): number | null =>
  account && REQUIREMENTS.findIndex((list) => requirementsHash(list).equals(account.subarray(1)))

/** Rules, each with the number of its requirements. */
export interface Rules {
  ownersOnly: boolean
  startsAt: number | null
  requirements: number
  /** Base units by target. */
  prices: readonly [target: number, amount: number][]
}
const rules = (given: Partial<Rules>): Rules => ({
  ownersOnly: false,
  startsAt: null,
  requirements: 0,
  prices: [],
  ...given,
})
export const RULES: readonly Rules[] = [
  rules({}),
  rules({ ownersOnly: true }),
  rules({ requirements: 1 }),
  rules({ prices: [[0, 5]] }),
  rules({ prices: [[0, 9]] }),
  rules({
    prices: [
      [1, 3],
      [0, 7],
    ],
  }),
  rules({ prices: [[0, 5]], requirements: 1, startsAt: msAt(20) }),
  rules({ startsAt: msAt(15) }),
  rules({ ownersOnly: true, requirements: 2 }),
]
const rulesOf = ({ ownersOnly, startsAt, requirements, prices }: Rules): CommunityRules => ({
  prices: prices.map(([target, amount]) => ({ ...TARGETS[target]!, amount: BigInt(amount) })),
  ownersOnly,
  startsAtMs: startsAt,
  requirements: REQUIREMENTS[requirements]!,
})

const LONG = 'l'.repeat(30)
const below = fc.constantFrom(...WALLET_NAMES, 'a-2', LONG, `${LONG}-2`)
const w = fc.nat(WALLETS.length - 1)
const operatorOr = fc.option(w, { freq: 2 })
const name = fc.constantFrom('foo', 'foo', 'foo', 'bar', 'bar', ...NAMES)
const paidName = fc.constantFrom('bar', 'bar', 'bar', ...NAMES)
const met = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.constantFrom(2, null) },
)

const communityStep: fc.Arbitrary<CommunityStep> = fc.oneof(
  { weight: 8, arbitrary: step },
  {
    weight: 3,
    arbitrary: of('configure', {
      w: operatorOr,
      name,
      rules: fc.constantFrom(0, 0, 3, 3, ...RULES.keys()),
    }),
  },
  {
    weight: 6,
    arbitrary: of('register', {
      w,
      of: fc.option(w, { freq: 1 }),
      name,
      below,
      met,
      isAssigned: fc.boolean(),
    }).map((given) => ({ ...given, of: given.of ?? given.w })),
  },
  {
    weight: 4,
    arbitrary: of('pay', {
      w,
      name: fc.oneof({ weight: 9, arbitrary: paidName }, { weight: 1, arbitrary: fc.constant('') }),
      below: fc.oneof({ weight: 9, arbitrary: below }, { weight: 1, arbitrary: fc.constant('') }),
      to: fc.constantFrom(0, 0, 0, 1, 2),
      amount: fc.constantFrom(3, 4, 5, 7, 9),
      ago: fc.constantFrom(0, 0, 10, 20, 30, 40, 70),
      met,
    }),
  },
  // a private entry under a name that may be taken below a community, and its publication by a bid
  {
    weight: 1,
    arbitrary: of('add', {
      w,
      items: fc.tuple(fc.record({ w, name: below, isPrivate: fc.constant(true) })),
    }),
  },
)

/** Two communities, one with a private owner, the other with a private wallet that is invited. */
const GROUND: readonly CommunityStep[] = [
  { do: 'bid', w: 0, name: 'foo' },
  { do: 'configure', w: 0, name: 'foo', rules: 0 },
  { do: 'add', w: 0, items: [{ w: 2, name: 'a', isPrivate: true }] },
  { do: 'verify', w: 2, c: 0 },
  { do: 'bid', w: 1, name: 'bar' },
  { do: 'configure', w: null, name: 'bar', rules: 3 },
  { do: 'add', w: 1, items: [{ w: 3, name: 'b', isPrivate: true }] },
]

const take = (name: string): CommunityStep => {
  return { do: 'register', w: 5, of: 5, name: 'foo', below: name, met: 0, isAssigned: false }
}
/**
 * Names below a community that equal the names of private wallets or their numbered forms, also of a name that has no
 * room for a number. Each bid makes one of them public.
 */
export const HIDING: readonly CommunityStep[] = [
  ...GROUND,
  ...['a', 'a-2', LONG, `${LONG}-2`].map(take),
  { do: 'bid', w: 2, name: 'baz' },
  { do: 'add', w: 0, items: [{ w: 4, name: LONG, isPrivate: true }] },
  { do: 'add', w: 0, items: [{ w: 4, name: LONG, isPrivate: false }] },
  { do: 'verify', w: 4, c: 0 },
  { do: 'rename', w: 0, items: [{ w: 0, name: `${LONG}-2` }] },
  { do: 'bid', w: 4, name: 'qux' },
  take('a-3'),
  take(`${LONG}-3`),
]

/** A wallet is listed by another and goes there, maybe with the names that it holds. */
const move = fc
  .record({
    host: fc.constantFrom(0, 1, 4),
    w: fc.constantFrom(0, 1, 4),
    name: below,
    isPrivate: fc.constantFrom(false, false, true),
    c: fc.nat(2),
  })
  .map(({ host, w, name, isPrivate, c }): CommunityStep[] => [
    { do: 'add', w: host, items: [{ w, name, isPrivate }] },
    { do: 'verify', w, c },
  ])

const some = fc.oneof(
  { weight: 9, arbitrary: communityStep.map((one) => [one]) },
  { weight: 1, arbitrary: move },
)
export const communitySteps = fc
  .tuple(fc.nat(9), fc.array(some, { minLength: 10, maxLength: 45, size: 'max' }))
  .map(([chance, rest]) => [...(chance > 0 ? GROUND : []), ...rest.flat()])

const wordOf = (text: string): Buffer => (text === '' ? Buffer.alloc(32, 65) : nameToWord(text))

/** The journal entry of step i. Payments are made on chain 2. @param origins of the clusters by serial - 1 */
export function entryOf(s: CommunityStep, i: number, origins: readonly Origin[]): Entry {
  const signed = { position: null, txKey: null, causeMs: msAt(i) }
  switch (s.do) {
    case 'configure': {
      const actor = s.w === null ? null : WALLETS[s.w]!
      const kind = 'configure_community'
      const body = encodeChange({ kind, actor, community: s.name, rules: rulesOf(RULES[s.rules]!) })
      return { kind, ...signed, body }
    }
    case 'register': {
      const kind = 'register_community_name'
      const actor = WALLETS[s.w]!
      const wallet = WALLETS[s.of]!
      const { isAssigned } = s
      const change = {
        kind,
        actor,
        community: s.name,
        name: s.below,
        wallet,
        met: hashOf(s.met),
        isAssigned,
      } as const
      return { kind, ...signed, body: encodeChange(change) }
    }
    case 'pay': {
      const body = encodePayment({
        tx: Buffer.alloc(32, i),
        payer: WALLETS[s.w]!,
        ...TARGETS[s.to]!,
        amount: BigInt(s.amount),
        community: wordOf(s.name),
        name: wordOf(s.below),
        referral: null,
        blockMs: blockMsOf(s.ago, i),
        met: hashOf(s.met),
      })
      const position = { chain: 2, block: i, logIndex: 0 }
      return { kind: 'pay_community_name', position, txKey: BigInt(i), causeMs: msAt(i), body }
    }
    default:
      return { ...entryOfCluster(s, i, origins), causeMs: msAt(i) }
  }
}
