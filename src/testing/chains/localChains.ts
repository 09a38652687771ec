import { type Hex, parseEther } from 'viem'
import type { Network } from '../../registry/primitives/network.js'
import { type BridgeMessagePrice, ETH_TO_ETH_MESSAGE_PRICE } from '../contracts/deploy.js'
import type { PriceFeeds } from '../contracts/priceFeed.js'
import type { WorldEns } from '../world.js'

interface ChainDefinition {
  network: Network
  label: string
  role: 'hub' | 'spoke'
  /** Local chain id, so that no signature can be replayed on the public chain with this label. */
  chainId: number
  /** LayerZero's endpoint id of the public chain with this label. */
  eid: number
  gasToken: { symbol: string; decimals: 18 }
  /**
   * Price of a bridge message that this chain sends. On a spoke, `numerator / denominator` is the price of one ether in
   * the spoke's gas token.
   */
  price: BridgeMessagePrice
}

/**
 * Maximum that the local relayer spends on a message, wei, value included. A more expensive message is parked: it is
 * not delivered.
 */
export const LOCAL_RELAYER_SPEND_CAP_WEI = parseEther('100')

const ETH_GAS_TOKEN_AND_PRICE = {
  gasToken: { symbol: 'ETH', decimals: 18 },
  price: ETH_TO_ETH_MESSAGE_PRICE,
} as const
/** Invented gas token with another price than ETH, so that an amount in the wrong token is noticed. */
const LOC_GAS_TOKEN_AND_PRICE = {
  gasToken: { symbol: 'LOC', decimals: 18 },
  price: { baseWei: 7n * 10n ** 14n, numerator: 7n, denominator: 2n },
} as const

/** Chains of a local world. They have the labels of public chains, and local chain ids. */
const LOCAL_CHAINS = [
  {
    network: 'mainnet',
    label: '1',
    role: 'hub',
    chainId: 900_000_001,
    eid: 30_101,
    ...ETH_GAS_TOKEN_AND_PRICE,
  },
  {
    network: 'mainnet',
    label: '8453',
    role: 'spoke',
    chainId: 900_008_453,
    eid: 30_184,
    ...ETH_GAS_TOKEN_AND_PRICE,
  },
  {
    network: 'mainnet',
    label: '10',
    role: 'spoke',
    chainId: 900_000_010,
    eid: 30_111,
    ...LOC_GAS_TOKEN_AND_PRICE,
  },
  {
    network: 'testnet',
    label: '11155111',
    role: 'hub',
    chainId: 911_155_111,
    eid: 40_161,
    ...ETH_GAS_TOKEN_AND_PRICE,
  },
  {
    network: 'testnet',
    label: '17000',
    role: 'spoke',
    chainId: 900_017_000,
    eid: 40_217,
    ...ETH_GAS_TOKEN_AND_PRICE,
  },
] as const satisfies readonly ChainDefinition[]

/** Label of a local chain. */
export type ChainLabel = (typeof LOCAL_CHAINS)[number]['label']

/** Network (`mainnet`, `testnet`) of a chain's label; for several labels, the union of their networks. */
export type NetworkOf<L extends ChainLabel> = Extract<
  (typeof LOCAL_CHAINS)[number],
  { label: L }
>['network']

/** Label of a network's hub chain. Every local world with the network has this chain. */
export type HubLabel<N extends Network> = Extract<
  (typeof LOCAL_CHAINS)[number],
  { network: N; role: 'hub' }
>['label']

export interface LocalChainDefinition extends ChainDefinition {
  label: ChainLabel
}

/**
 * Contracts of the project and of LayerZero on a chain. `contract` is the hub or the spoke, created in `startBlock`.
 */
export interface ChainContractAddresses {
  genesisHash: Hex
  contract: Hex
  endpoint: Hex
  messageLib: Hex
  communityPayments: Hex
  startBlock: number
}

/** Contracts that only a hub's chain has. */
export interface HubOnlyContracts {
  /** Price feeds for quotes in SOL. `setPrice` changes their prices. */
  readonly feeds?: PriceFeeds | undefined
  /** A token that anybody may mint. */
  readonly token?: Hex | undefined
  readonly ens?: WorldEns | undefined
}

/** A chain's entry in the chains file. Absent fields have the file's defaults. */
export interface ChainsFileEntry
  extends Omit<LocalChainDefinition, 'price'>,
    ChainContractAddresses {
  rpcUrls: [string]
  wsUrl: string
  confirmation: { blocks: number }
  pollMs: number
  local: true
}

/** A chain as a start of a local world stores it for later starts. */
export interface StoredLocalChain extends ChainsFileEntry, HubOnlyContracts {}

/** A running chain with its contracts. */
export interface RunningChain extends LocalChainDefinition, HubOnlyContracts {
  readonly rpcUrl: string
  readonly config: ChainsFileEntry
}

/**
 * Chooses the chains to start: chains with one of the labels, in one of the networks. An undefined list allows all.
 * @throws Error for an unknown label, a spoke without its hub, or if no chain is left
 */
export function chooseLocalChains(
  networks: readonly Network[] | undefined,
  labels: readonly string[] | undefined,
): readonly LocalChainDefinition[] {
  const unknown = labels?.find((label) => !LOCAL_CHAINS.some((chain) => chain.label === label))
  if (unknown !== undefined) {
    const known = LOCAL_CHAINS.map(({ label }) => `"${label}"`).join(', ')
    throw new Error(`Chain "${unknown}" is not one of the local world; these are: ${known}.`)
  }
  const chosen = LOCAL_CHAINS.filter(
    ({ network, label }) =>
      (networks?.includes(network) ?? true) && (labels?.includes(label) ?? true),
  )
  const hubOf = (of: Network, among: readonly ChainDefinition[]) =>
    among.find(({ network, role }) => network === of && role === 'hub')?.label
  const spokeWithoutHub = chosen.find(({ network }) => hubOf(network, chosen) === undefined)
  if (spokeWithoutHub) {
    const hub = hubOf(spokeWithoutHub.network, LOCAL_CHAINS)
    throw new Error(`Spoke "${spokeWithoutHub.label}" needs its hub, "${hub}", in the world too.`)
  }
  if (chosen.length === 0)
    throw new Error('A local world needs a chain: give other chains or networks.')
  return chosen
}
