/**
 * Width of the next `eth_getLogs` range, learned from what works: halved by a failure, grown while answers stay small.
 * A width that failed is tried again after some good answers, since nodes and their words may mean something else.
 */
export type RangeWidth = ReturnType<typeof createRangeWidth>

/** Small, since several ranges are requested before the first answer; sparse blocks grow it fourfold per answer. */
const FIRST_BLOCKS = 8
const MAX_BLOCKS = 10_000
/** Logs per range, about 2 MB of JSON: enough to hide the round trip, small enough to die young in memory. */
const TARGET_LOGS = 3_000

/** Good answers of the greatest width after which twice as much is tried: few at first, more where that failed again. */
const FIRST_PATIENCE = 4
const MOST_PATIENCE = 256
const PATIENCE_FACTOR = 8

export function createRangeWidth(first = FIRST_BLOCKS) {
  let blocks = first
  let ceiling = MAX_BLOCKS
  let held = 0
  let patience = FIRST_PATIENCE
  /** True if ranges have worked since the ceiling was lowered: failures in a row are one. */
  let hasWorked = false
  /** Least width that failed for an unknown reason; null where the width is not why. */
  let suspect: number | null = null

  const lower = (to: number): void => {
    if (hasWorked) patience = Math.min(MOST_PATIENCE, PATIENCE_FACTOR * patience)
    hasWorked = false
    ceiling = Math.max(1, to)
    blocks = Math.min(blocks, ceiling)
    held = 0
  }

  return {
    get blocks(): number {
      return blocks
    },
    /** A node refused a range of this many blocks for its size. */
    tooMuch(asked: number): void {
      // a range that was requested before the ceiling was lowered says nothing new
      if (asked <= ceiling) lower(Math.floor(asked / 2))
    },
    /**
     * A range of this many blocks failed for an unknown reason, which is no rate limit: a smaller one is tried, and
     * remembered as the greatest if it works.
     */
    failed(asked: number): void {
      suspect = asked > 1 ? Math.min(suspect ?? asked, asked) : null
      blocks = Math.max(1, Math.min(blocks, Math.floor(asked / 2)))
    },
    /** A range of this many blocks gave this many logs. */
    answered(asked: number, logs: number): void {
      if (suspect !== null && asked < suspect && suspect <= ceiling)
        lower(Math.max(asked, Math.floor(suspect / 2)))
      suspect = null
      hasWorked = true
      // a range cut short by the end of the chain says nothing about the width
      if (asked < blocks) return
      if (asked >= ceiling) held += 1
      if (held >= patience) {
        ceiling = Math.min(MAX_BLOCKS, 2 * ceiling)
        held = 0
      }
      const fitting = logs === 0 ? asked * 4 : Math.floor((asked * TARGET_LOGS) / logs)
      blocks = Math.max(1, Math.min(ceiling, fitting, asked * 4))
    },
  }
}
