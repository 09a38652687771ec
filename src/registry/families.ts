import { NETWORK_OF_CHAIN_LABEL, type Network } from './primitives/network.js'

/** Display names of the address types whose wallets can register names and pay. */
export const PAYER_ADDRESS_TYPE_NAMES = { evm: 'Ethereum', solana: 'Solana' } as const
export type PayerAddressType = keyof typeof PAYER_ADDRESS_TYPE_NAMES
export const PAYER_ADDRESS_TYPES = Object.keys(
  PAYER_ADDRESS_TYPE_NAMES,
) as readonly PayerAddressType[]

/**
 * Properties of a family of chains on which rules, SQL and responses depend. Access to its chains is in
 * src/chains/<key>, the rest of its code in src/daemon/families and src/api/families.
 */
export interface ChainFamily {
  /** Key in the database (`chains.family`) and in responses (`type`). Never rename. */
  readonly key: string
  /** Display name. */
  readonly name: string
  /** Label of its chains, the same on both networks; null where each chain has its own label (see network.ts). */
  readonly label: string | null
  /** Type of the addresses that pay, own tokens and receive payments. */
  readonly addressType: PayerAddressType
  /** Address type whose row in src/registry/forms has the form of the family's transaction ids. */
  readonly txIdForm: PayerAddressType
  /** Maximum bits of an amount in a token's base units. */
  readonly amountBits: bigint
}

export const EVM = {
  key: 'evm',
  name: 'EVM',
  label: null,
  addressType: 'evm',
  txIdForm: 'evm',
  amountBits: 256n,
} as const satisfies ChainFamily

export const SOLANA = {
  key: 'solana',
  name: 'Solana',
  label: 'solana',
  addressType: 'solana',
  txIdForm: 'solana',
  // lamports and SPL amounts are u64
  amountBits: 64n,
} as const satisfies ChainFamily

const FAMILIES = { evm: EVM, solana: SOLANA }
export type ChainFamilyKey = keyof typeof FAMILIES
type KnownChainFamily = (typeof FAMILIES)[ChainFamilyKey]
/** All chain families. */
export const CHAIN_FAMILY_PROPERTIES: readonly KnownChainFamily[] = Object.values(FAMILIES)

/** Families with one label for all chains. The label is also the key of the family's section in the chains file. */
export const LABELLED_FAMILIES = CHAIN_FAMILY_PROPERTIES.filter((family) => family.label !== null)
export type LabelledFamilyKey = (typeof LABELLED_FAMILIES)[number]['key']

/** Family of the chain with a label. A label that is not the label of a family is an EIP-155 id. */
export const familyOfLabel = (label: string): KnownChainFamily =>
  CHAIN_FAMILY_PROPERTIES.find((family) => family.label === label) ?? EVM

/** True if a network can have a chain with the label. A family's label, such as `solana`, is on both networks. */
export const isChainLabelOfNetwork = (network: Network, label: string): boolean =>
  familyOfLabel(label).label !== null ||
  (Object.hasOwn(NETWORK_OF_CHAIN_LABEL, label) && NETWORK_OF_CHAIN_LABEL[label] === network)
