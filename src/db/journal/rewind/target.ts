import type { ChainRow } from '../chains.js'

/** Blocks of a chain to drop, from one on. */
export interface RewindTarget {
  row: ChainRow
  isHub: boolean
  /** First dropped block. */
  block: number
  /** Hash of the block before it as the chain has it now, null for the first. */
  parentHash: Buffer | null
  /** Time of the block before it, ms; 0 when unknown. */
  parentMs: number
}
