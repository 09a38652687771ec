import { type Hex, parseEther } from 'viem'
import type { Network } from '../../registry/primitives/network.js'
import { type BridgePrice, ETH_PRICE } from '../contracts/deploy.js'
import type { PriceFeeds } from '../contracts/priceFeed.js'

interface Definition {
  network: Network
  label: string
  role: 'hub' | 'spoke'
  /** Local chain id, so that no signature can be replayed on the public chain of that label. */
  chainId: number
  /** LayerZero's endpoint id of the public network of that label. */
  eid: number
  gasToken: string
  /**
   * Cost of a message on this chain; on a spoke, `numerator / denominator` is the price of one ether in its gas token.
   */
  price: BridgePrice
}

/** Spend cap of the local relayer per message, value included; a message above is parked. */
export const LOCAL_SPEND_CAP_WEI = parseEther('100')

/** Price of an ether on the spoke whose gas isn't ETH, so that a mixed-up amount is noticed. */
const LOC_PRICE: BridgePrice = { baseWei: 7n * 10n ** 14n, numerator: 7n, denominator: 2n }

/** Chains of a local world: public network labels with local chain ids. */
const LOCAL_CHAINS = [
  {
    network: 'mainnet',
    label: '1',
    role: 'hub',
    chainId: 900_000_001,
    eid: 30_101,
    gasToken: 'ETH',
    price: ETH_PRICE,
  },
  {
    network: 'mainnet',
    label: '8453',
    role: 'spoke',
    chainId: 900_008_453,
    eid: 30_184,
    gasToken: 'ETH',
    price: ETH_PRICE,
  },
  {
    network: 'mainnet',
    label: '10',
    role: 'spoke',
    chainId: 900_000_010,
    eid: 30_111,
    gasToken: 'LOC',
    price: LOC_PRICE,
  },
  {
    network: 'testnet',
    label: '11155111',
    role: 'hub',
    chainId: 911_155_111,
    eid: 40_161,
    gasToken: 'ETH',
    price: ETH_PRICE,
  },
  {
    network: 'testnet',
    label: '17000',
    role: 'spoke',
    chainId: 900_017_000,
    eid: 40_217,
    gasToken: 'ETH',
    price: ETH_PRICE,
  },
] as const satisfies readonly Definition[]

/** Label of a local chain. */
export type ChainLabel = (typeof LOCAL_CHAINS)[number]['label']

/** Networks of the chains with these labels. */
export type NetworkOf<L extends ChainLabel> = Extract<(typeof LOCAL_CHAINS)[number], { label: L }>['network']

export interface ChainDefinition extends Definition {
  label: ChainLabel
}

/** A chain's entry in the daemon's chains file; absent fields have the file's defaults. */
export interface ChainEntry {
  network: Network
  label: ChainLabel
  role: 'hub' | 'spoke'
  chainId: number
  genesisHash: Hex
  rpcUrls: [string]
  wsUrl: string
  contract: Hex
  endpoint: Hex
  eid: number
  messageLib: Hex
  communityPayments: Hex
  startBlock: number
  confirmation: { blocks: number }
  pollMs: number
  gasToken: { symbol: string; decimals: 18 }
  local: true
}

/** A chain as remembered between starts of a world. */
export interface KnownChain extends ChainEntry {
  /** On a hub: price feeds for quotes in SOL. */
  feeds?: PriceFeeds
  /** On a hub: a token that anybody may mint. */
  token?: Hex
}

/** A chain that runs, with its contracts. */
export interface RunningChain extends ChainDefinition {
  readonly rpcUrl: string
  /** Entry of the chain in the daemon's chains file. */
  readonly config: ChainEntry
  /** On a hub: price feeds for quotes in SOL; `setPrice` changes them. */
  readonly feeds: PriceFeeds | undefined
  /** On a hub: a token that anybody may mint. */
  readonly token: Hex | undefined
}

/**
 * Chooses the chains to start, by labels and networks; default: all.
 * @throws Error for an unknown label or a spoke without its hub
 */
export function chooseChains(
  networks: readonly Network[] | undefined,
  labels: readonly string[] | undefined,
): readonly ChainDefinition[] {
  const unknown = labels?.find((label) => !LOCAL_CHAINS.some((chain) => chain.label === label))
  if (unknown !== undefined) {
    const known = LOCAL_CHAINS.map(({ label }) => `"${label}"`).join(', ')
    throw new Error(`Chain "${unknown}" is not one of the local world; these are: ${known}.`)
  }
  const chosen = LOCAL_CHAINS.filter(
    ({ network, label }) => (networks?.includes(network) ?? true) && (labels?.includes(label) ?? true),
  )
  const hubs = new Set(chosen.filter(({ role }) => role === 'hub').map(({ network }) => network))
  const alone = chosen.find(({ network }) => !hubs.has(network))
  if (alone) throw new Error(`Spoke "${alone.label}" needs its hub, "${hubLabel(alone.network)}", in the world too.`)
  if (chosen.length === 0) throw new Error('A local world needs a chain: give other chains or networks.')
  return chosen
}

function hubLabel(of: Network): ChainLabel | undefined {
  return LOCAL_CHAINS.find(({ network, role }) => network === of && role === 'hub')?.label
}
