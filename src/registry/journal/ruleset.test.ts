import { expect, it } from 'vitest'
import { RULES, RULESET_VERSION, rulesetOf } from './ruleset.js'

it('rules are found by the version of an entry, and only there', () => {
  // versions that journals have
  for (const version of [1, 2, 3])
    expect(rulesetOf(version)).toMatchObject({ maxClusterWallets: 1_000, namesPerEntry: 1_000 })
  expect(rulesetOf(RULESET_VERSION)).toBe(RULES)
  for (const version of [0, RULESET_VERSION + 1])
    expect(() => rulesetOf(version)).toThrow(
      `this version of clusterd does not know ruleset ${version}`,
    )
})
