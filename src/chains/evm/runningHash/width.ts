/**
 * Adapts the width of `eth_getLogs` ranges, in blocks: a failure halves the width, small answers increase the width. A
 * width that failed is tried again after some good answers, since a node's errors may have other causes.
 */
export type LogRangeWidth = ReturnType<typeof createLogRangeWidth>

/**
 * Width of the first ranges: small, because several ranges are requested before the first answer. An answer with few logs
 * increases the width up to fourfold.
 */
const FIRST_WIDTH_BLOCKS = 8
const MAX_WIDTH_BLOCKS = 10_000
/**
 * Desired number of logs per range, about 2 MB of JSON: enough to hide the round trip, few enough to be
 * garbage-collected while they are young.
 */
const TARGET_LOGS_PER_RANGE = 3_000
/** Desired number of logs per range while the process serves requests, which wait while it works on a range. */
const SHARED_TARGET_LOGS_PER_RANGE = 500

/**
 * Number of good answers at the lowered maximum width after which the maximum is doubled: few at first, more each time
 * ranges fail again.
 */
const FIRST_PATIENCE = 4
const MOST_PATIENCE = 256
const PATIENCE_FACTOR = 8

/** @param isShared true while the process serves requests: ranges are smaller then */
export function createLogRangeWidth(first = FIRST_WIDTH_BLOCKS, isShared = () => false) {
  let blocks = first
  let ceiling = MAX_WIDTH_BLOCKS
  let answersAtCeiling = 0
  let patience = FIRST_PATIENCE
  /** True if a range has worked since the ceiling was lowered. Failures without a success between them count once. */
  let hasWorked = false
  /** Smallest width that failed for an unknown reason since the last success. Null if none, or if one block failed. */
  let suspect: number | null = null

  const lower = (to: number): void => {
    if (hasWorked) patience = Math.min(MOST_PATIENCE, PATIENCE_FACTOR * patience)
    hasWorked = false
    ceiling = Math.max(1, to)
    blocks = Math.min(blocks, ceiling)
    answersAtCeiling = 0
  }

  return {
    get blocks(): number {
      return blocks
    },
    /** Call when a node has refused a range of `width` blocks as too large. */
    tooMuch(width: number): void {
      // ignore ranges that were requested before the ceiling was lowered
      if (width <= ceiling) lower(Math.floor(width / 2))
    },
    /**
     * Call when a range of `width` blocks has failed for an unknown reason, but not for a rate limit. A smaller width
     * is tried, and becomes the ceiling if it works.
     */
    failed(width: number): void {
      suspect = width > 1 ? Math.min(suspect ?? width, width) : null
      blocks = Math.max(1, Math.min(blocks, Math.floor(width / 2)))
    },
    /** Call when a range of `width` blocks has been read. @param logs number of logs in the range */
    answered(width: number, logs: number): void {
      if (suspect !== null && width < suspect && suspect <= ceiling)
        lower(Math.max(width, Math.floor(suspect / 2)))
      suspect = null
      hasWorked = true
      // a shorter range, as at the chain's head, does not show whether the width is good
      if (width < blocks) return
      if (width >= ceiling) answersAtCeiling += 1
      if (answersAtCeiling >= patience) {
        ceiling = Math.min(MAX_WIDTH_BLOCKS, 2 * ceiling)
        answersAtCeiling = 0
      }
      const target = isShared() ? SHARED_TARGET_LOGS_PER_RANGE : TARGET_LOGS_PER_RANGE
      const fitting = logs === 0 ? width * 4 : Math.floor((width * target) / logs)
      blocks = Math.max(1, Math.min(ceiling, fitting, width * 4))
    },
  }
}
