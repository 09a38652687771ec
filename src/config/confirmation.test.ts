import { expect, it } from 'vitest'
import { bridgeConfirmations, confirmation, defaultConfirmation } from './confirmation.js'

it.each([
  ['hub', '8453', 'finalized'],
  ['hub', undefined, 'finalized'],
  ['spoke', '8453', 'safe'],
  ['spoke', '137', 'finalized'],
  ['spoke', undefined, { blocks: 10 }],
] as const)('a %s of the label %s waits by default for %o', (role, label, policy) => {
  expect(defaultConfirmation(role, label)).toEqual(policy)
})

it.each([
  ['safe', 64],
  [undefined, 64],
  [{ blocks: 3 }, 3],
  [{ blocks: 0 }, 1],
] as const)('behind %o verifiers wait for %d blocks', (policy, blocks) => {
  expect(bridgeConfirmations(policy)).toBe(blocks)
})

it.each(['latest', { blocks: -1 }, {}])('%o is no policy', (policy) => {
  expect(confirmation.safeParse(policy).success).toBe(false)
})
