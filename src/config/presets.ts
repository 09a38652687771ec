import { NETWORK_LABELS, type Network } from '../registry/primitives/network.js'
import { PRESET_DATA } from './presetData.js'

type Hex = `0x${string}`

/** Default settings of a public EVM chain, which a chains file may leave out. Addresses are in lower case. */
export interface NetworkPreset {
  /** The chain's label in the HTTP API. */
  readonly label: string
  readonly network: Network
  readonly chainId: number
  /** Hash of block 0; undefined: it is read at the first start. */
  readonly genesisHash?: Hex
  /** LayerZero's endpoint id, and the address of its EndpointV2. */
  readonly eid: number
  readonly endpoint: Hex
  /** LayerZero's own libraries (ULN 302), executor and verifier on the chain. */
  readonly layerZero: Readonly<Record<'sendLibrary' | 'receiveLibrary' | 'executor' | 'dvn', Hex>>
  /** Undefined means ETH. */
  readonly gasToken?: { readonly symbol: string; readonly decimals: 18 }
  /** Base URL of a block explorer with the paths `/tx/<hash>` and `/block/<number>`. */
  readonly explorer: string
}

const PRESETS: ReadonlyMap<string, NetworkPreset> = new Map(
  PRESET_DATA.map((data) => [
    data.label,
    { ...data, network: NETWORK_LABELS[data.label]!, chainId: Number(data.label) },
  ]),
)

/** The preset of an EVM chain, by its network label. */
export const chainPresetOf = (label: string): NetworkPreset | undefined => PRESETS.get(label)

/** Labels of a network's EVM chains, in the order of their chain ids. */
export const evmLabelsOf = (network: Network): readonly string[] =>
  Object.keys(NETWORK_LABELS).filter((label) => NETWORK_LABELS[label] === network)
