import { expect, it } from 'vitest'
import { missingTokens } from './deploy.js'

const airdrop = { community: 'alice', total: 1_000n, claimed: { seen: 0, confirmed: 0 } }

it('sends a distributor what it still needs', () => {
  expect(missingTokens(airdrop, 0n)).toBe(1_000n)
  expect(missingTokens(airdrop, 400n)).toBe(600n)
  expect(missingTokens(airdrop, 1_000n)).toBe(0n)
})

it('does not send again what accounts have claimed', () => {
  const claimed = { ...airdrop, claimed: { seen: 2, confirmed: 1 } }
  // both claims were paid: 700 of 1,000 are left
  expect(() => missingTokens(claimed, 700n)).toThrow(
    '--fund: 2 of the airdrop of "alice" are claimed already',
  )
})
