import { expect, it } from 'vitest'
import { isInTier, listTestFiles } from './setup/tiers.js'

const files = listTestFiles()

it('every test file is in one tier', () => {
  const quick = files.filter((path) => isInTier(path, 'quick'))
  const rest = files.filter((path) => isInTier(path, 'rest'))
  expect(quick.length).toBeGreaterThan(200)
  expect(rest.length).toBeGreaterThan(50)
  expect([...quick, ...rest].sort()).toEqual(files.toSorted())
})

it.each([
  ['every row of the interface', 'test/conformance/conformance.test.ts'],
  ['a published client', 'test/e2e/sdk.test.ts'],
  ['a registration on the hub', 'test/e2e/registration.test.ts'],
  ['a registration from a spoke', 'test/e2e/bridge.test.ts'],
  ['a registration from Solana', 'test/e2e/sdk.test.ts'],
  ['every route at once in one process', 'test/mix/quick.test.ts'],
  ['a kill and a take-over', 'test/world/killed.test.ts'],
  ['the contracts under random calls', 'test/contracts/hub-fuzz.test.ts'],
  ['the Solana program', 'test/contracts/solana.test.ts'],
  ['a new file beside its source', 'src/registry/primitives/new.test.ts'],
])('npm test proves %s', (_, path) => {
  expect(isInTier(path, 'quick')).toBe(true)
})
