import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isInTier, listTestFiles, RANDOM } from './setup/tiers.js'

const files = listTestFiles()

it('every test file is in one tier, and random ones are in both', () => {
  const quick = files.filter((path) => isInTier(path, 'quick'))
  const rest = files.filter((path) => isInTier(path, 'rest'))
  expect(quick.length).toBeGreaterThan(200)
  expect(rest.length).toBeGreaterThan(50)
  expect([...quick, ...rest].sort()).toEqual([...files, ...RANDOM].sort())
})

it('no module that tests share has hooks of its own: they run for the first file of a worker only', () => {
  const hooks = /^(beforeAll|afterAll|beforeEach|afterEach)\(|^(export )?const \w+ = use[A-Z]\w*\(/m
  const shared = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
  )
  expect(shared.length).toBeGreaterThan(100)
  expect(shared.filter((path) => hooks.test(readFileSync(join('test', path), 'utf8')))).toEqual([])
})

it('random files, and no others, have fewer runs in the quick tier', () => {
  const shorter = files.filter((path) => /import \{ runsOf \}/.test(readFileSync(path, 'utf8')))
  expect(shorter.sort()).toEqual(RANDOM.toSorted())
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
