import { expect, it } from 'vitest'
import { NEWEST_RULESET, RULESET_VERSION, rulesetOfVersion } from './ruleset.js'

// versions in existing journals
it.each([1, 2, 3])('rules of version %d are found', (version) => {
  expect(rulesetOfVersion(version)).toMatchObject({
    maxClusterWallets: 1_000,
    namesPerEntry: 1_000,
  })
})

it('rules of the newest version are in force', () => {
  expect(rulesetOfVersion(RULESET_VERSION)).toBe(NEWEST_RULESET)
})

it.each([0, RULESET_VERSION + 1])('rules of version %d are unknown', (version) => {
  expect(() => rulesetOfVersion(version)).toThrow(
    `this version of clusterd does not know ruleset ${version}`,
  )
})
