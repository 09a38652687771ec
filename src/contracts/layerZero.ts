import { CHAIN_PRESET_DATA } from '../config/presetData.js'

/** LayerZero's endpoint on a chain: its id (eid), and the address of its contract EndpointV2. */
export interface LayerZeroEnd {
  readonly eid: number
  readonly endpoint: `0x${string}`
}

/** LayerZero's endpoints on the EVM chains that have a preset, by network label ("1", "8453", …). */
export const layerZero: Readonly<Record<string, LayerZeroEnd>> = Object.fromEntries(
  CHAIN_PRESET_DATA.map(({ label, eid, endpoint }) => [label, { eid, endpoint }]),
)
