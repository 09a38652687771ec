import type { Hex } from 'viem'
import type { EvmChain } from '../chains/evm/chain.js'

/** Contracts between which messages are carried. */
export interface Lane {
  hub: { eid: number; contract: Hex; isLocal: boolean }
  /** `chain`: the spoke's number in the database. */
  spokes: readonly { chain: number; eid: number; contract: Hex }[]
}

/** The contracts through which messages and payments reach the hub. */
export interface DeliveryPath {
  lane: Lane
  /** LayerZero's endpoint, null where no spoke is connected. */
  endpoint: Hex | null
  /** Message library of a local chain, which accepts our verifications; else null. */
  messageLib: Hex | null
}

/** A chain on which the relayer sends transactions. */
export interface RelayTarget {
  at: EvmChain
  /** Null on a chain where only payments for community names are refused. */
  path: DeliveryPath | null
}

export interface RelayPlan {
  /** The hub first. */
  targets: readonly RelayTarget[]
  /** Names what the chains file lacks, where messages can't be carried for it. */
  problem: string | null
}

/**
 * The chains on which a network's relayer sends transactions: the hub where messages or payments are carried to it, and
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

/** Null where nothing is carried, or the contracts are others'. */
function pathOf(
  chains: readonly EvmChain[],
  carriesPayments: boolean,
): DeliveryPath | string | null {
  const hub = chains.find(({ role }) => role === 'hub')
  const spokes = chains.filter(({ role, config }) => role === 'spoke' && !config.watchOnly)
  if (!hub || hub.config.watchOnly || (spokes.length === 0 && !carriesPayments)) return null
  const { eid, endpoint, contract, messageLib, local } = hub.config
  if (spokes.length > 0 && (eid === undefined || endpoint === undefined))
    return lacks(hub, 'eid and endpoint')
  const without = spokes.find(({ config }) => config.eid === undefined)
  if (without) return lacks(without, 'eid')
  const lane: Lane = {
    // LayerZero has no endpoint id 0, so no packet is for it
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

const lacks = ({ network, label }: EvmChain, fields: string): string =>
  `no messages are delivered on ${network}: chain "${label}" lacks ${fields} in the chains file`
