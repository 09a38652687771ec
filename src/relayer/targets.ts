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
  const hub = chains.find(({ role, config }) => role === 'hub' && !config.watchOnly)
  const spokes = chains.filter(({ role, config }) => role === 'spoke' && !config.watchOnly)
  const problem = hub ? missingSettingOf(hub, spokes) : null
  // the bridge's settings are for messages only: for a payment, the relayer itself bids at the hub
  const linked = problem === null ? spokes : []
  const path = hub && (linked.length > 0 || carriesPayments) ? pathOf(hub, linked) : null
  const targets = chains
    .map((at): RelayTarget => ({ at, path: at === hub ? path : null }))
    .filter((target) => target.path !== null || target.at.communityPayments !== null)
  return {
    targets: targets.sort((a, b) => Number(b.path !== null) - Number(a.path !== null)),
    problem,
  }
}

/** Sentence that names the first missing setting for messages of spokes. Null where nothing is missing. */
function missingSettingOf(hub: EvmChain, spokes: readonly EvmChain[]): string | null {
  if (spokes.length === 0) return null
  const { eid, endpoint } = hub.config
  if (eid === undefined || endpoint === undefined) return missingFieldsText(hub, 'eid and endpoint')
  const without = spokes.find(({ config }) => config.eid === undefined)
  return without ? missingFieldsText(without, 'eid') : null
}

const missingFieldsText = ({ network, label }: EvmChain, fields: string): string =>
  `no messages are delivered on ${network}: chain "${label}" has no ${fields} in the chains file`

/** @param spokes the spokes whose messages are delivered: each has an `eid` */
function pathOf({ config }: EvmChain, spokes: readonly EvmChain[]): DeliveryPath {
  const { eid, endpoint, contract, messageLib, local } = config
  const lane: HubWithSpokes = {
    // 0 is no endpoint id of LayerZero, so no packet matches it
    hub: { eid: eid ?? 0, contract, isLocal: local && messageLib !== undefined },
    spokes: spokes.map((spoke) => ({
      chain: spoke.chain,
      eid: spoke.config.eid!,
      contract: spoke.config.contract,
    })),
  }
  // only a local chain's library accepts our verifications
  return { lane, endpoint: endpoint ?? null, messageLib: (local && messageLib) || null }
}
