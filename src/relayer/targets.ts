import type { Hex } from 'viem'
import type { EvmChain } from '../chains/evm/chain.js'

/** A chain of the network with its number in the database. */
export interface NumberedChain {
  chain: EvmChain
  number: number
}

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
  at: NumberedChain
  /** Null on a chain where only payments for community names are refused. */
  path: DeliveryPath | null
}

export interface RelayPlan {
  /** The hub first. */
  targets: readonly RelayTarget[]
  /** A sentence that names what the chains file lacks, where messages can't be carried for it. */
  problem: string | null
}

/**
 * The chains on which a network's relayer sends transactions: the hub where messages or payments are carried to it, and
 * every chain that takes payments for community names.
 * @param carriesPayments whether the network takes payments on Solana
 */
export function relayPlanOf(chains: readonly NumberedChain[], carriesPayments = false): RelayPlan {
  const path = pathOf(chains, carriesPayments)
  const problem = path && 'problem' in path ? path.problem : null
  const targets = chains
    .map((at): RelayTarget => ({ at, path: at.chain.role === 'hub' && path && !('problem' in path) ? path : null }))
    .filter((target) => target.path !== null || target.at.chain.communityPayments !== null)
  return { targets: targets.sort((a, b) => Number(b.path !== null) - Number(a.path !== null)), problem }
}

/** The path to the hub; null where nothing is carried, or the contracts are others'. */
function pathOf(chains: readonly NumberedChain[], carriesPayments: boolean): DeliveryPath | { problem: string } | null {
  const hub = chains.find(({ chain }) => chain.role === 'hub')
  const spokes = chains.filter(({ chain }) => chain.role === 'spoke' && !chain.config.watchOnly)
  if (!hub || hub.chain.config.watchOnly || (spokes.length === 0 && !carriesPayments)) return null
  const { eid, endpoint, contract, messageLib, local } = hub.chain.config
  if (spokes.length > 0 && (eid === undefined || endpoint === undefined))
    return { problem: lacks(hub, 'eid and endpoint') }
  const without = spokes.find(({ chain }) => chain.config.eid === undefined)
  if (without) return { problem: lacks(without, 'eid') }
  const lane: Lane = {
    // LayerZero has no endpoint id 0, so no packet is for it
    hub: { eid: eid ?? 0, contract, isLocal: local && messageLib !== undefined },
    spokes: spokes.map(({ chain, number }) => ({
      chain: number,
      eid: chain.config.eid!,
      contract: chain.config.contract,
    })),
  }
  // only a local chain's library accepts our verifications
  return { lane, endpoint: endpoint ?? null, messageLib: (local && messageLib) || null }
}

const lacks = ({ chain }: NumberedChain, fields: string): string =>
  `no messages are delivered on ${chain.network}: chain "${chain.label}" lacks ${fields} in the chains file`

/** A key that jobs need, with the variables of which one gives it. */
interface NeededKey {
  family: 'evm' | 'solana'
  from: string
}
const EVM_KEY: NeededKey = { family: 'evm', from: 'RELAYER_PRIVATE_KEY, RELAYER_KEYSTORE or RELAYER_SIGNER_URL' }
const SOLANA_KEY: NeededKey = { family: 'solana', from: 'SOLANA_RELAYER_PRIVATE_KEY or SOLANA_RELAYER_KEY_FILE' }

/** The keys that a network's jobs need. @param isPaidOn whether the network takes payments on Solana */
export const keysFor = ({ targets }: RelayPlan, isPaidOn: boolean): NeededKey[] => [
  ...(targets.length > 0 ? [EVM_KEY] : []),
  ...(isPaidOn ? [SOLANA_KEY] : []),
]
