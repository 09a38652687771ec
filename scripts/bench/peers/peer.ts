import type { Hex } from 'viem'
import type { WatchedChild } from '../../../src/testing/processes/processes.js'

/** What a peer (another project's indexer) reads, and where it writes. */
export interface PeerJob {
  rpcUrl: string
  wsUrl: string
  chainId: number
  hub: Hex
  startBlock: number
  /** URL of a database that only this peer uses, on a server that only it uses. */
  databaseUrl: string
  logFile: string
}

/** Another project's indexer, which is measured beside ours. */
export interface Peer {
  title: string
  /** What the peer stores for a `Bid` log. */
  stores: string
  /** What the peer verifies before it stores a log. */
  checks: string
  /** How the peer learns of a new block. */
  follows: string
  /** SQL that has a row once the registration of $1 is stored. */
  query: string
  /** Value of $1 in `query`. @param word the name's 32 bytes */
  keyOf(word: Hex): string
  /** Prepares what depends on the chain, before the time is measured. */
  prepare?(job: PeerJob): Promise<void>
  /** Starts the peer. It reads the chain from `startBlock`, then follows the head. */
  start(job: PeerJob): Promise<WatchedChild>
}

/** The event that is indexed. */
export const BID_EVENT = 'event Bid(bytes32 from, uint256 amount, bytes32 name)'
