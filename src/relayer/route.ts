import type { EvmChain } from '../chains/evm/chain.js'
import type { Route } from './judge.js'
import type { RelayerOptions, Road } from './relayer.js'

/** A chain of the network with its number in the database. */
export interface NumberedChain {
  chain: EvmChain
  number: number
}

/** A chain on which a relayer has something to do. */
export type Place = Pick<RelayerOptions, 'at' | 'road'>

export interface Places {
  /** The hub first. */
  places: readonly Place[]
  /** A sentence that names what the chains file lacks, where messages can't be carried for it. */
  problem: string | null
}

/**
 * Where a network's relayer has something to do: on the hub where messages or payments are carried to it, and on every chain
 * that takes payments for community names.
 * @param carriesPayments whether the network takes payments on Solana
 */
export function placesOf(chains: readonly NumberedChain[], carriesPayments = false): Places {
  const road = roadOf(chains, carriesPayments)
  const problem = road && 'problem' in road ? road.problem : null
  const places = chains
    .map((at): Place => ({ at, road: at.chain.role === 'hub' && road && !('problem' in road) ? road : null }))
    .filter((place) => place.road !== null || place.at.chain.communityPayments !== null)
  return { places: places.sort((a, b) => Number(b.road !== null) - Number(a.road !== null)), problem }
}

/** The way to the hub: null where there is nothing to carry, or contracts of others. */
function roadOf(chains: readonly NumberedChain[], carriesPayments: boolean): Road | { problem: string } | null {
  const hub = chains.find(({ chain }) => chain.role === 'hub')
  const spokes = chains.filter(({ chain }) => chain.role === 'spoke' && !chain.config.watchOnly)
  if (!hub || hub.chain.config.watchOnly || (spokes.length === 0 && !carriesPayments)) return null
  const { eid, endpoint, contract, messageLib, local } = hub.chain.config
  if (spokes.length > 0 && (eid === undefined || endpoint === undefined))
    return { problem: lacks(hub, 'eid and endpoint') }
  // LayerZero has no endpoint id 0: no packet is for it
  const route: Route = { hub: { eid: eid ?? 0, contract, isLocal: local && messageLib !== undefined }, spokes: [] }
  const known: Route['spokes'][number][] = []
  for (const spoke of spokes) {
    const { config } = spoke.chain
    if (config.eid === undefined) return { problem: lacks(spoke, 'eid') }
    known.push({ chain: spoke.number, eid: config.eid, contract: config.contract })
  }
  // only a library of a local chain believes us
  const library = route.hub.isLocal ? (messageLib ?? null) : null
  return { route: { ...route, spokes: known }, endpoint: endpoint ?? null, messageLib: library }
}

const lacks = ({ chain }: NumberedChain, fields: string): string =>
  `no messages are delivered on ${chain.network}: chain "${chain.label}" lacks ${fields} in the chains file`
