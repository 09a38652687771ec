import { expect, it } from 'vitest'
import { CHAIN_FAMILY_PROPERTIES, LABELLED_FAMILIES, PAYER_ADDRESS_TYPES } from './families.js'
import { ADDRESS_AND_TX_ID_FORMS } from './forms/index.js'
import { parseWallet, type Wallet } from './primitives/address.js'
import { NETWORK_OF_CHAIN_LABEL } from './primitives/network.js'

const distinct = (values: readonly unknown[]) => new Set(values).size === values.length

it('no two families, and no other chain, have one label', () => {
  const labels = LABELLED_FAMILIES.map(({ label }) => label)
  expect(distinct([...labels, ...Object.keys(NETWORK_OF_CHAIN_LABEL)])).toBe(true)
})

it('stored bytes show the type of an address, and the length of an id its form', () => {
  const forms = Object.values(ADDRESS_AND_TX_ID_FORMS)
  const other = parseWallet('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa') as Wallet
  expect(distinct([...forms.map(({ code }) => code), other.bytes[0]])).toBe(true)
  expect(distinct(forms.flatMap(({ tx }) => tx?.bytes ?? []))).toBe(true)
})

it('each family has addresses of a known type, and a form for the ids of its transactions', () => {
  for (const { addressType, txIdForm } of CHAIN_FAMILY_PROPERTIES) {
    expect(PAYER_ADDRESS_TYPES).toContain(addressType)
    expect(ADDRESS_AND_TX_ID_FORMS[txIdForm].tx).not.toBeNull()
  }
})
