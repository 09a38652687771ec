import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MUTANTS } from '../../scripts/invariants/mutants.js'

/** `npm run invariants -- --mutants` runs them, with Foundry. */
test.each(MUTANTS)(
  '$contract contains exactly once the text that a mutant changes: $from',
  (mutant) => {
    const source = readFileSync(`contracts/evm/src/${mutant.contract}.sol`, 'utf8')
    expect(source.split(mutant.from)).toHaveLength(2)
  },
)

test.each(['Hub', 'CommunityPayments'])('each invariant of %s has a mutant', (contract) => {
  const source = readFileSync(`contracts/evm/invariants/${contract}.t.sol`, 'utf8')
  const reasons = [...source.matchAll(/require\([^"]*"([^"]+)"\)/g)].map(([, reason]) => reason)
  const broken = MUTANTS.filter((mutant) => mutant.contract === contract)
  expect(reasons.length).toBeGreaterThan(0)
  for (const reason of reasons) expect(broken.map(({ breaks }) => breaks)).toContain(reason)
})
