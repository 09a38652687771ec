import { expect, it } from 'vitest'
import type { CommunityRules } from '../community/rules.js'
import { encodeChange } from './change.js'
import { communityRulesOfBody } from './storedRules.js'

const rulesFor = (count: number): CommunityRules => ({
  prices: [],
  ownersOnly: false,
  startsAtMs: null,
  requirements: Array.from({ length: count }, (_, list) => ({
    kind: 'allowlist',
    addresses: Array.from(
      { length: 1_000 },
      (_, i) => `0x${(list * 1_000 + i + 1).toString(16).padStart(40, '0')}`,
    ),
  })),
})
const bodyOf = (rules: CommunityRules) =>
  encodeChange({ kind: 'configure_community', actor: null, community: 'foo', rules })

it.each([0, 1, 5])(
  'stored rules with %d requirements are decoded once per body, also from before the limit of addresses',
  (count) => {
    const rules = rulesFor(count)
    const decoded = communityRulesOfBody(bodyOf(rules))
    expect(decoded).toEqual(rules)
    expect(communityRulesOfBody(bodyOf(rules))).toBe(decoded)
  },
)

it('invalid bodies are refused each time', () => {
  for (let i = 0; i < 2; i++)
    expect(() => communityRulesOfBody(Buffer.from('{}'))).toThrow(RangeError)
})
