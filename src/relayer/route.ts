import type { EvmChain } from '../chains/evm/chain.js'
import type { Route } from './judge.js'
import type { RelayerOptions } from './relayer.js'

/** A chain of the network with its number in the database. */
export interface NumberedChain {
  chain: EvmChain
  number: number
}

export type Road = Pick<RelayerOptions, 'hub' | 'route'>

/**
 * What a network's relayer has to know of its chains.
 * @param carriesPayments whether the network takes payments on Solana
 * @returns null where there is nothing to carry, or contracts of others; or a sentence that names what the chains file lacks
 */
export function roadOf(chains: readonly NumberedChain[], carriesPayments = false): Road | { problem: string } | null {
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
  return {
    hub: { chain: hub.chain, number: hub.number, endpoint: endpoint ?? null, messageLib: library },
    route: { ...route, spokes: known },
  }
}

const lacks = ({ chain }: NumberedChain, fields: string): string =>
  `nothing is delivered on ${chain.network}: chain "${chain.label}" lacks ${fields} in the chains file`
