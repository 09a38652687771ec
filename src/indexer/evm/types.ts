import type { DecodedLogs } from '../../chains/evm/decodeLogs.js'
import type { Network } from '../../registry/primitives/network.js'

/** What one step of the indexer came to. */
export type Outcome =
  /** Confirmed blocks went from the chain straight into the journal. */
  | { kind: 'backfilled'; blocks: number; entries: number }
  /** New blocks joined the tail; some became confirmed. */
  | { kind: 'followed'; blocks: number; facts: number; confirmedBlocks: number; entries: number; dropped: number }
  /** Nothing new. */
  | { kind: 'idle' }
  /** The node's head is below what we hold: it is slow, not reorged. */
  | { kind: 'behind'; latest: number }
  /** A confirmed block is no longer on the chain: nothing more is taken from it until an operator decides. */
  | { kind: 'halted'; reason: string }

/** What the indexer knows of its chain, for readiness, metrics and progress. */
export interface IndexerState {
  network: Network
  label: string
  chain: number
  latest: number | null
  confirmed: number | null
  /** The first block that is not in the journal. */
  nextBlock: number
  /** Newest block whose logs are visible as facts. */
  tailBlock: number | null
  isCaughtUp: boolean
  halted: string | null
  lastStepMs: number | null
  lastError: string | null
}

/** Confirmed logs of consecutive blocks with the hash of the last one. */
export interface ConfirmedRange {
  from: number
  to: number
  decoded: DecodedLogs
  /** Hash of block `from` - 1 as the range's first block names it. */
  parentHash: Buffer
  lastHash: Buffer
  /** Hashes of blocks in which our contract logged, where a batch may be cut. */
  hashOfBlock: Map<number, Buffer>
}

export interface Progress {
  network: Network
  label: string
  /** What is counted, default blocks. */
  unit?: 'blocks' | 'transactions'
  doneBlocks: number
  totalBlocks: number
  registrations: number
  registrationsPerS: number
  /** null until it can be told. */
  secondsLeft: number | null
}

/** An unconfirmed block and what our contract logged in it. */
export interface TailBlock {
  block: number
  hash: Buffer
  parentHash: Buffer
  timestampMs: number
  decoded: DecodedLogs
}
