import { CHAIN_PRESET_DATA } from '../config/presetData.js'

/** LayerZero V2 on a chain: the endpoint id, and the address of the contract EndpointV2. */
export interface LayerZeroEnd {
  readonly eid: number
  readonly endpoint: `0x${string}`
}

/** LayerZero's endpoints of the EVM chains, by network label ("1", "8453", …). */
export const layerZero: Readonly<Record<string, LayerZeroEnd>> = Object.fromEntries(
  CHAIN_PRESET_DATA.map(({ label, eid, endpoint }) => [label, { eid, endpoint }]),
)
