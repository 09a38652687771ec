import type { Hex } from 'viem'
import type { WatchedChild } from '../../../src/testing/processes/processes.js'

/** What a peer reads, and where it writes. */
export interface PeerJob {
  rpcUrl: string
  chainId: number
  hub: Hex
  startBlock: number
  /** Database of its own, on a PostgreSQL of its own. */
  databaseUrl: string
  logFile: string
}

/** Another project's indexer, which is measured beside ours. */
export interface Peer {
  title: string
  /** What it stores for a `Bid` log, and what it verifies before. */
  stores: string
  checks: string
  /** SQL that has a row once the registration of $1 is stored. */
  query: string
  /** Value of $1. @param word the name's 32 bytes */
  keyOf(word: Hex): string
  /** Prepares what depends on the chain, before the time is measured. */
  prepare?(job: PeerJob): Promise<void>
  /** Starts it; it reads from the beginning, then follows the head. */
  start(job: PeerJob): Promise<WatchedChild>
}

/** The event that is indexed. */
export const BID_EVENT = 'event Bid(bytes32 from, uint256 amount, bytes32 name)'
