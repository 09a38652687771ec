import { NETWORK_OF_CHAIN_LABEL, type Network } from '../registry/primitives/network.js'
import { CHAIN_PRESET_DATA } from './presetData.js'

type Hex = `0x${string}`

/** Default settings of a public EVM chain, which a chains file may leave out. Addresses are in lower case. */
interface ChainPreset {
  /** The chain's label in the HTTP API. */
  readonly label: string
  readonly name: string
  /** RPC URLs that anybody may use, for wallets and pages. */
  readonly publicRpcUrls: readonly string[]
  readonly network: Network
  readonly chainId: number
  /** Hash of block 0; undefined: it is read at the first start. */
  readonly genesisHash?: Hex
  /** LayerZero's endpoint id, and the address of its EndpointV2. */
  readonly eid: number
  readonly endpoint: Hex
  /** LayerZero's own libraries (ULN 302), executor and verifier on the chain. */
  readonly layerZero: Readonly<Record<'sendLibrary' | 'receiveLibrary' | 'executor' | 'dvn', Hex>>
  /** Coin that pays for gas; undefined for ETH. */
  readonly gasToken?: { readonly symbol: string; readonly decimals: 18 }
  /** Base URL of a block explorer with the paths `/tx/<hash>` and `/block/<number>`. */
  readonly explorer: string
}

const PRESET_OF_LABEL: ReadonlyMap<string, ChainPreset> = new Map(
  CHAIN_PRESET_DATA.map((data) => [
    data.label,
    { ...data, network: NETWORK_OF_CHAIN_LABEL[data.label]!, chainId: Number(data.label) },
  ]),
)

/** The preset of an EVM chain, by the chain's label. Undefined for a label without a preset. */
export const chainPresetOf = (label: string): ChainPreset | undefined => PRESET_OF_LABEL.get(label)

/** Labels of a network's EVM chains, in the order of their chain ids. */
export const evmChainLabelsOf = (network: Network): readonly string[] =>
  Object.keys(NETWORK_OF_CHAIN_LABEL).filter((label) => NETWORK_OF_CHAIN_LABEL[label] === network)
