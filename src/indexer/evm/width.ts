/**
 * How many blocks to ask for at once, learned from answers: halved when a node says "too much" (and never grown past that
 * again), grown while answers stay small.
 */
export interface RangeWidth {
  readonly blocks: number
  /** A node refused a range of this many blocks. */
  tooMuch(blocks: number): void
  /** A range of this many blocks failed for another reason: fewer questions at once go through more easily. */
  failed(blocks: number): void
  /** A range of `blocks` gave `logs`. */
  answered(blocks: number, logs: number): void
}

/** Few, since several are asked for before the first answer; sparse blocks grow it fourfold an answer. */
const FIRST_BLOCKS = 8
const MAX_BLOCKS = 10_000
/** A batch of the first catch-up, about 3 MB of JSON: enough to hide the round trip, small enough to keep memory flat. */
const TARGET_LOGS = 5_000

export function createRangeWidth(first = FIRST_BLOCKS): RangeWidth {
  let blocks = first
  let ceiling = MAX_BLOCKS
  return {
    get blocks() {
      return blocks
    },
    tooMuch(asked) {
      ceiling = Math.max(1, Math.floor(asked / 2))
      blocks = Math.min(blocks, ceiling)
    },
    failed(asked) {
      blocks = Math.max(1, Math.min(blocks, Math.floor(asked / 2)))
    },
    answered(asked, logs) {
      // a range cut short by the end of the chain says nothing about the width
      if (asked < blocks) return
      const fitting = logs === 0 ? asked * 4 : Math.floor((asked * TARGET_LOGS) / logs)
      blocks = Math.max(1, Math.min(ceiling, fitting, asked * 4))
    },
  }
}
