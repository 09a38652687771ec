/** A client for browsers and Node, by `fetch` alone: `clusterd/client`. */
export { Client, type RegistryOptions } from './client.js'
export { ClusterdError } from './error.js'
export type { EventsOptions, ResumableEvent } from './feed.js'
export type { WalletsOptions } from './join.js'
export {
  type EntriesOptions,
  type LogEntry,
  type LogOptions,
  LogReader,
  type SignedHead,
  type TreeHead,
} from './log.js'
export type { HubNode, Proof } from './registry.js'
export type { WaitOptions } from './status.js'
export type { ClientOptions } from './transport.js'
export type * from './types.js'
export type { EvmWallet, SolanaWallet, StandardWallet, Wallet } from './wallet.js'
