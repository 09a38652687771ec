/// <reference types="node" preserve="true" />
/** The local world as a library: `import { startStack, until } from 'clusterd/testing'`. */

export type { TransactionStatus as StatusAnswer } from '../client/types.js'
export type { Bridge } from './bridge.js'
export { type ChainActions as ChainVerbs, WorldError } from './chains/actions.js'
export { type Anvil, type AnvilOptions, startAnvil, TEST_MNEMONIC } from './chains/anvil.js'
export type { LocalChain } from './chains/localChain.js'
export type { ChainLabel, NetworkOf } from './chains/localChains.js'
export {
  type BridgeCall,
  buildBridgeCall as bridgeCall,
  type SpokeChain as SpokeAt,
} from './contracts/bridgeCall.js'
export type { PriceFeeds } from './contracts/priceFeed.js'
export {
  type FaultProxy,
  type FaultProxyOptions,
  startFaultProxy,
} from './faultProxy/faultProxy.js'
export { FAULT_KINDS, type FaultKind, type Faults, type ProxiedCall } from './faultProxy/kinds.js'
export type { DaemonEnvironment, DaemonProcess } from './processes/daemonProcess.js'
export {
  createDatabase,
  dropDatabase,
  type Postgres,
  type PostgresOptions,
  startPostgres,
} from './processes/postgres.js'
export {
  type LocalSolana,
  type LocalSolanaOptions,
  startLocalSolana,
} from './solana/localSolana.js'
export { payQuote } from './solana/payQuote.js'
export {
  type Stack,
  type StackOnRunningChainOptions as AttachOptions,
  type StackOptions,
  startStack,
  startStackOnRunningChain as attach,
} from './stack.js'
export type { AttachedRpcUrls as Attached, PostgresHandle } from './stackParts.js'
export { type EventItem, type UntilOptions, until } from './until.js'
export {
  type EvmAccount,
  readWorld,
  type Seed,
  type SeedCommunities,
  type SolanaAccount,
  type World,
  type WorldEns,
  type WorldHub,
  type WorldNetwork,
  type WorldSolana,
  type WorldSpoke,
} from './world.js'
