import { expect, it } from 'vitest'
import {
  type ConfirmationPolicy,
  confirmationRulesOf,
  confirmationSchema,
  defaultConfirmationPolicy,
} from './confirmation.js'

const finalized = { kind: 'tag', tag: 'finalized' } as const
const safe = { kind: 'tag', tag: 'safe' } as const
const depth = (blocks: number) => ({ kind: 'depth', blocks }) as const

it.each([
  ['hub', '8453', finalized],
  ['hub', undefined, finalized],
  ['spoke', '8453', safe],
  ['spoke', '137', finalized],
  ['spoke', undefined, depth(10)],
] as const)('a %s of the label %s waits by default for %o', (role, label, policy) => {
  expect(defaultConfirmationPolicy(role, label)).toEqual(policy)
})

interface Case<Kind extends ConfirmationPolicy['kind']> {
  /** As the chains file has it. */
  given: unknown
  policy: Extract<ConfirmationPolicy, { kind: Kind }>
  tagged?: number
  confirmed: number
  bridgeBlocks: number
}

/** By kind, so that a new kind does not compile without a case of its own. */
const CASES: { [Kind in ConfirmationPolicy['kind']]: [Case<Kind>, ...Case<Kind>[]] } = {
  tag: [
    { given: 'safe', policy: safe, tagged: 90, confirmed: 90, bridgeBlocks: 64 },
    { given: 'finalized', policy: finalized, confirmed: -1, bridgeBlocks: 64 },
  ],
  depth: [
    { given: { blocks: 3 }, policy: depth(3), confirmed: 97, bridgeBlocks: 3 },
    { given: { blocks: 0 }, policy: depth(0), confirmed: 100, bridgeBlocks: 1 },
  ],
}

it.each(Object.values(CASES).flat())(
  '$given of a chains file is read as $policy',
  ({ given, policy }) => {
    expect(confirmationSchema.parse(given)).toEqual(policy)
  },
)

it.each(Object.values(CASES).flat())(
  'with $policy the confirmed block of 100 is $confirmed, and verifiers wait for $bridgeBlocks blocks',
  ({ policy, tagged, confirmed, bridgeBlocks }) => {
    const rules = confirmationRulesOf(policy)
    expect(rules.confirmedOf(100, tagged)).toBe(confirmed)
    expect(rules.bridgeBlocks).toBe(bridgeBlocks)
  },
)

it.each(['latest', { blocks: -1 }, {}])('%o is not a valid policy', (policy) => {
  expect(confirmationSchema.safeParse(policy).success).toBe(false)
})
