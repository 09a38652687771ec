import { expect, it } from 'vitest'
import { type DoctorFinding, omitConsequentOutages } from './finding.js'

const bad = (about: string, more: Partial<DoctorFinding> = {}): DoctorFinding => ({
  about,
  level: 'bad',
  found: 'no answer',
  ...more,
})

it('leaves out the outages that follow from a node that is away, of the same chain only', () => {
  const findings = [
    bad('chain 8453, node.example', { isNode: true }),
    bad('chain 8453, hub', { isOutage: true }),
    bad('chain 8453, relayer', { isOutage: false }),
    bad('chain 10, spoke', { isOutage: true }),
  ]
  const shown = omitConsequentOutages(findings).map(({ about }) => about)
  expect(shown).toEqual(['chain 8453, node.example', 'chain 8453, relayer', 'chain 10, spoke'])
})
