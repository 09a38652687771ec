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

/** A configured chain, opened: what each part of the daemon needs of it. */
export interface OpenedChain extends IndexSource {
  /** For the API, which asks for strangers. */
  readonly port: ChainPort
  /** Of a hub: proves the names of an imported network. */
  readonly proof?: Worker
}

/** What a family's chains have to send on one network. */
interface RelayPart {
  readonly sources: readonly RelaySource[]
  /** Whether this process has the key that pays, and the settings that give it, for people. */
  readonly hasKey: boolean
  readonly keyFrom: string
  /** What is missing in the chains file; null for nothing. */
  readonly problem?: string | null
}

/** A row of the table of families: what the daemon asks of a kind of chains. */
export interface ChainFamily {
  /**
   * Opens the configured chains. A node that is away must not delay the others.
   * @param opened chains of the families before this one in the list
   * @throws ChainMismatchError, WrongChainError, ConfigError
   */
  open(
    config: Config,
    ctx: OpenContext,
    opened: readonly OpenedChain[],
  ): Promise<readonly OpenedChain[]>
  /** @param opened chains of one network, of all families. Absent: the family's chains are sent nothing. */
  relay?(opened: readonly OpenedChain[], config: Config, network: Network): RelayPart
  /** What alarms, metrics and the operator's page ask of what `relay` gives. */
  readonly relayers?: RelayerKind
  /** What the pages' wallet of a local world needs to send on the chains. */
  testWallet?(config: Config): WalletChains
  /** For `clusterd doctor`: checks what a start needs of the configured chains, and changes nothing. */
  examine(config: Config): Promise<readonly Finding[]>
  /** Routes of the family beside those of the interface. */
  readonly routes?: readonly Route[]
}

/** Logs what a chain's nodes do wrong. */
export const faultReporter =
  (chain: string, { log }: OpenContext) =>
  (url: string, error: RpcError): void => {
    const refuted = error instanceof RefutedError && alarmFields('ClusterdRpcWrongChain')
    const fields = { chain, url: new URL(url).host, fault: error.fault, err: error, ...refuted }
    log[refuted ? 'error' : 'debug'](fields, 'an RPC URL failed')
  }
