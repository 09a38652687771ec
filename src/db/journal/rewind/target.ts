import type { ChainRow } from '../chains.js'

/** The blocks of a chain from one on, whose entries a rewind leaves out. */
export interface RewindTarget {
  /** The chain's row as it stands. */
  row: ChainRow
  /** Whether names are decided there. */
  isHub: boolean
  /** The first block that is left out, and read anew. */
  block: number
  /** Hash of the block before it as the chain has it now, null where nothing is before it. */
  parentHash: Buffer | null
  /** Time of the block before it in milliseconds, 0 when it isn't known. */
  parentMs: number
}
