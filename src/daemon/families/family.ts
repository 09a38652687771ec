import type { Route } from '../../api/http/route.js'
import type { ChainPort } from '../../chains/chain.js'
import { RefutedAnswerError, type RpcError } from '../../chains/rpc/errors.js'
import type { NodeCounters } from '../../chains/rpc/nodes.js'
import type { Config } from '../../config/index.js'
import type { IndexedChainSource } from '../../indexer/run.js'
import type { NetworkContext } from '../../ops/context.js'
import type { DoctorFinding } from '../../ops/finding.js'
import type { Worker } from '../../ops/worker.js'
import type { Network } from '../../registry/primitives/network.js'
import type { RelayerChain } from '../../relayer/run.js'
import type { TestWalletChainFamily } from '../../web/page.js'

export type ChainOpeningContext = Pick<NetworkContext, 'pool' | 'log'>

/** A configured chain with its database row, as the daemon's parts use it. */
export interface OpenedChain extends IndexedChainSource {
  /** Port for the API, with limits on the node calls that anonymous requests cause. */
  readonly port: ChainPort
  /** Counters of the chain's nodes, by consumer. */
  nodes(): readonly { use: string; nodes: readonly NodeCounters[] }[]
  /** Worker that proves the names of a mirrored network. Set only for a hub. */
  readonly proof?: Worker
}

/** The relayers of a family's chains on one network. */
interface FamilyRelayers {
  readonly sources: readonly RelayerChain[]
  /** True if this process has the paying key. The field `keyFrom` names the settings that provide the key. */
  readonly hasKey: boolean
  readonly keyFrom: string
  /** Sentence that names the missing setting of the chains file. Null where nothing is missing. */
  readonly problem?: string | null
}

/** The daemon's code for one chain family: how its chains are opened, indexed, relayed and checked. */
export interface DaemonChainFamily {
  /**
   * Opens the configured chains of the family. A chain whose nodes are unavailable must not delay other chains.
   * @param opened chains of the families before this one in the list
   * @throws ChainMismatchError, WrongChainError, ConfigError
   */
  open(
    config: Config,
    ctx: ChainOpeningContext,
    opened: readonly OpenedChain[],
  ): Promise<readonly OpenedChain[]>
  /**
   * Relayers of the family's chains on a network. Absent if nothing is sent to the family's chains.
   * @param opened chains of the network, of all families
   */
  relay?(opened: readonly OpenedChain[], config: Config, network: Network): FamilyRelayers
  /** Settings with which the test wallet in the pages of a local world sends transactions on the family's chains. */
  testWallet?(config: Config): TestWalletChainFamily
  /** Checks for `clusterd doctor`: whether the daemon could start with the configured chains. Changes nothing. */
  examine(config: Config): Promise<readonly DoctorFinding[]>
  /** API routes that only this family has. */
  readonly routes?: readonly Route[]
}

/** Logs faults of a chain's nodes: a refuted answer as a warning, others at level debug. */
export const createRpcFaultLogger =
  (chain: string, { log }: ChainOpeningContext) =>
  (url: string, error: RpcError): void => {
    const fields = { chain, url: new URL(url).host, fault: error.fault, err: error }
    log[error instanceof RefutedAnswerError ? 'warn' : 'debug'](fields, 'an RPC URL failed')
  }
