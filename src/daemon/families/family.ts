import type { Route } from '../../api/http/route.js'
import type { ChainPort } from '../../chains/chain.js'
import { RefutedError, type RpcError } from '../../chains/rpc/errors.js'
import type { Config } from '../../config/index.js'
import type { IndexSource } from '../../indexer/run.js'
import { alarmFields } from '../../ops/alarms.js'
import type { Context } from '../../ops/context.js'
import type { Finding } from '../../ops/finding.js'
import type { Worker } from '../../ops/worker.js'
import type { Network } from '../../registry/primitives/network.js'
import type { RelayerKind } from '../../relayer/relayerKind.js'
import type { RelaySource } from '../../relayer/run.js'
import type { WalletChains } from '../../web/page.js'

export type OpenContext = Pick<Context, 'pool' | 'log' | 'metrics'>

/** A configured and opened chain: what each part of the daemon needs of it. */
export interface OpenedChain extends IndexSource {
  /** Port for the API, with the shares of anonymous requests. */
  readonly port: ChainPort
  /** Set for a hub: proves the names of a mirrored network. */
  readonly proof?: Worker
}

/** What a family's chains have to send on one network. */
interface RelayPart {
  readonly sources: readonly RelaySource[]
  /** True if this process has the paying key. `keyFrom` names the settings that provide it. */
  readonly hasKey: boolean
  readonly keyFrom: string
  /** What is missing in the chains file. Null where nothing is. */
  readonly problem?: string | null
}

/** A row of the table of chain families: what the daemon needs of a kind of chains. */
export interface ChainFamily {
  /**
   * Opens the configured chains. An unavailable node must not delay the others.
   * @param opened chains of the families before this one in the list
   * @throws ChainMismatchError, WrongChainError, ConfigError
   */
  open(
    config: Config,
    ctx: OpenContext,
    opened: readonly OpenedChain[],
  ): Promise<readonly OpenedChain[]>
  /** @param opened chains of one network, of all families. Absent: nothing is sent to the family's chains. */
  relay?(opened: readonly OpenedChain[], config: Config, network: Network): RelayPart
  /** What alarms, metrics and the operator's page need of the relayers of `relay`. */
  readonly relayers?: RelayerKind
  /** What the test wallet of a local world's pages needs to send transactions on these chains. */
  testWallet?(config: Config): WalletChains
  /** Checks for `clusterd doctor`: everything that a start needs of the configured chains. Changes nothing. */
  examine(config: Config): Promise<readonly Finding[]>
  /** Routes of the family beyond the common interface. */
  readonly routes?: readonly Route[]
}

/** Logs faults of a chain's nodes. */
export const faultReporter =
  (chain: string, { log }: OpenContext) =>
  (url: string, error: RpcError): void => {
    const refuted = error instanceof RefutedError && alarmFields('ClusterdRpcWrongChain')
    const fields = { chain, url: new URL(url).host, fault: error.fault, err: error, ...refuted }
    log[refuted ? 'error' : 'debug'](fields, 'an RPC URL failed')
  }
