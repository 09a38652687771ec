import { NETWORK_OF_CHAIN_LABEL, type Network } from './primitives/network.js'

/** Types of wallets that register names and pay, with their names for people. */
export const PAYER_ADDRESS_TYPE_NAMES = { evm: 'Ethereum', solana: 'Solana' } as const
export type AddressType = keyof typeof PAYER_ADDRESS_TYPE_NAMES
export const PAYER_ADDRESS_TYPES = Object.keys(PAYER_ADDRESS_TYPE_NAMES) as readonly AddressType[]

/**
 * Properties of a family of chains on which rules, SQL and responses depend. The family's code is in src/chains/<key>.
 */
export interface ChainFamily {
  /** Key in the database (`chains.family`) and in responses (`type`). Never rename. */
  readonly key: string
  /** Name for people. */
  readonly name: string
  /** Network label of all its chains, on both networks; null where each chain has its own label (see network.ts). */
  readonly label: string | null
  /** Type of the addresses that pay, own tokens and receive payments. */
  readonly addressType: AddressType
  /** Type of addresses whose chains have transaction ids of the same form. */
  readonly txIdForm: AddressType
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

/** Properties of each chain family, by key. The code of each is in `src/daemon/families` and `src/api/families`. */
const BY_KEY = { evm: EVM, solana: SOLANA }
export type ChainFamilyKey = keyof typeof BY_KEY
type KnownFamily = (typeof BY_KEY)[ChainFamilyKey]
export const CHAIN_FAMILY_PROPERTIES: readonly KnownFamily[] = Object.values(BY_KEY)

/** Families with one label for all chains. The label is also the key of the family's section in the chains file. */
export const LABELLED_FAMILIES = CHAIN_FAMILY_PROPERTIES.filter((family) => family.label !== null)
export type LabelledFamilyKey = (typeof LABELLED_FAMILIES)[number]['key']

/** Family of the chain with a network label. A label that is not the label of a family is an EIP-155 id. */
export const familyOfLabel = (label: string): KnownFamily =>
  CHAIN_FAMILY_PROPERTIES.find((family) => family.label === label) ?? EVM

/** True if a text is the label of a chain of the network. */
export const isChainLabelOfNetwork = (network: Network, label: string): boolean =>
  familyOfLabel(label).label !== null ||
  (Object.hasOwn(NETWORK_OF_CHAIN_LABEL, label) && NETWORK_OF_CHAIN_LABEL[label] === network)
