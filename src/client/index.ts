/** A client for browsers and Node, by `fetch` alone: `import { Client } from 'clusterd/client'`. */
export type { Checkpoint } from './checkpoint.js'
export { Client, type VerifyOptions } from './client.js'
export { ClusterdError } from './error.js'
export type { EventsOptions, ResumableEvent } from './feed.js'
export type { HubNode, Proof } from './registry.js'
export type { WaitOptions } from './status.js'
export type { ClientOptions } from './transport.js'
export type {
  Answer,
  CallOptions,
  FeedEvent,
  Input,
  Method,
  PathOf,
  Schemas,
  StatusWord,
  TransactionStatus,
} from './types.js'
export type { EvmWallet, SolanaWallet, StandardWallet, Wallet } from './wallet.js'
