/** The local world as a library: `import { startStack, until } from 'clusterd/testing'`. */
export { type Anvil, type AnvilOptions, startAnvil, TEST_MNEMONIC } from './anvil.js'
export { type BridgeCall, bridgeCall, type SpokeAt } from './bridgeCall.js'
export type { DaemonEnvironment, DaemonProcess } from './daemonProcess.js'
export { type DistributorSettings, deployDistributor } from './distributor.js'
export { type FaultProxy, type FaultProxyOptions, startFaultProxy } from './faultProxy/faultProxy.js'
export { FAULT_KINDS, type FaultKind, type FaultRequest, type Faults } from './faultProxy/kinds.js'
export type { LocalChain } from './localChain.js'
export type { ChainLabel, NetworkOf } from './localChains.js'
export { createDatabase, dropDatabase, type Postgres, type PostgresOptions, startPostgres } from './postgres.js'
export { type PriceChange, type PriceFeeds, setPrice } from './priceFeed.js'
export { signIn } from './signIn.js'
export { type LocalSolana, type LocalSolanaOptions, startLocalSolana } from './solana/localSolana.js'
export { type Stack, type StackOptions, startStack } from './stack.js'
export type { PostgresHandle } from './stackParts.js'
export { type EventItem, type StatusAnswer, type UntilOptions, until } from './until.js'
export {
  type EvmAccount,
  readWorld,
  type Seed,
  type SeedCommunities,
  type SolanaAccount,
  type World,
  type WorldHub,
  type WorldNetwork,
  type WorldSolana,
  type WorldSpoke,
} from './world.js'
