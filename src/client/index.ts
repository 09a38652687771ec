/** A client that uses only what every runtime's `fetch` has: the package `clusterd-client`. */
export { Client } from './client.js'
export { ClusterdError } from './error.js'
export type { EvmWallet, SolanaWallet, StandardWallet, Wallet } from './families.js'
export type { EventsOptions, ResumableEvent } from './feed.js'
export type { WalletsOptions } from './join.js'
export type { WaitOptions } from './status.js'
export type { ClientOptions } from './transport.js'
export type * from './types.js'
