import { expect, it } from 'vitest'
import { chainsFileJsonSchema } from './chainsFile.js'
import { missingNewFields } from './newFields.js'

const unset = (file: object) =>
  missingNewFields(chainsFileJsonSchema(), file).map(({ field }) => field)

it('names each new field once that a chains file does not set', () => {
  const chains = [{ label: '1', trust: 'compared' }, { label: '8453' }, { label: '10' }]
  const file = { chains, ens: { mainnet: { parent: 'bundles.eth' } } }
  expect(unset(file)).toEqual(['chains[].trust', 'ens.mainnet.reverseRegistrars'])
})

it('names no field of a section that is not there, or that every chain sets', () => {
  const chains = [{ label: '1', trust: 'compared' }]
  expect(unset({ chains })).toEqual([])
})
