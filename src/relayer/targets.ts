import type { Hex } from 'viem'
import type { EvmChain } from '../chains/evm/chain.js'

/** Endpoint ids and contracts of a hub and of the spokes that send to it. */
export interface HubWithSpokes {
  hub: { eid: number; contract: Hex; isLocal: boolean }
  /** `chain`: the spoke's number in the database. */
  spokes: readonly { chain: number; eid: number; contract: Hex }[]
}

/** The contracts through which messages and payments reach the hub. */
export interface DeliveryPath {
  /** The hub, and the spokes whose messages are delivered to it. */
  lane: HubWithSpokes
  /** LayerZero's endpoint. Null where none is configured: then there are no spokes. */
  endpoint: Hex | null
  /** Message library of a local chain, which accepts our verifications. Null elsewhere. */
  messageLib: Hex | null
}

/** An EVM chain on which the relayer sends transactions, with the path of deliveries to it. */
export interface RelayTarget {
  at: EvmChain
  /** Null on a chain on which the relayer only refuses or releases payments for community names. */
  path: DeliveryPath | null
}

interface RelayPlan {
  /** Chains on which the relayer sends transactions, the hub first. */
  targets: readonly RelayTarget[]
  /**
   * Sentence that names the missing setting of the chains file where messages can't be delivered. Null where nothing is
   * missing.
   */
  problem: string | null
}

/**
 * The chains on which a network's relayer sends transactions: the hub, if messages or payments are delivered to it, and
 * every chain that takes payments for community names.
 * @param carriesPayments whether payments on other chains are delivered at the hub
 */
export function relayPlanOf(chains: readonly EvmChain[], carriesPayments = false): RelayPlan {
  const path = pathOf(chains, carriesPayments)
  const [problem, carried] = typeof path === 'string' ? [path, null] : [null, path]
  const targets = chains
    .map((at): RelayTarget => ({ at, path: at.role === 'hub' ? carried : null }))
    .filter((target) => target.path !== null || target.at.communityPayments !== null)
  return {
    targets: targets.sort((a, b) => Number(b.path !== null) - Number(a.path !== null)),
    problem,
  }
}

/**
 * The path to the hub, or a sentence that names a missing setting. Null where nothing is delivered, or the contracts
 * are third-party.
 */
function pathOf(
  chains: readonly EvmChain[],
  carriesPayments: boolean,
): DeliveryPath | string | null {
  const hub = chains.find(({ role }) => role === 'hub')
  const spokes = chains.filter(({ role, config }) => role === 'spoke' && !config.watchOnly)
  if (!hub || hub.config.watchOnly || (spokes.length === 0 && !carriesPayments)) return null
  const { eid, endpoint, contract, messageLib, local } = hub.config
  if (spokes.length > 0 && (eid === undefined || endpoint === undefined))
    return missingFieldsText(hub, 'eid and endpoint')
  const without = spokes.find(({ config }) => config.eid === undefined)
  if (without) return missingFieldsText(without, 'eid')
  const lane: HubWithSpokes = {
    // 0 is no endpoint id of LayerZero, so no packet matches it
    hub: { eid: eid ?? 0, contract, isLocal: local && messageLib !== undefined },
    spokes: spokes.map(({ chain, config }) => ({
      chain,
      eid: config.eid!,
      contract: config.contract,
    })),
  }
  // only a local chain's library accepts our verifications
  return { lane, endpoint: endpoint ?? null, messageLib: (local && messageLib) || null }
}

const missingFieldsText = ({ network, label }: EvmChain, fields: string): string =>
  `no messages are delivered on ${network}: chain "${label}" has no ${fields} in the chains file`
