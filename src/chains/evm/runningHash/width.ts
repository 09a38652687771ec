/**
 * Adapts the width of `eth_getLogs` ranges: a failure halves it, small answers increase it. A width that failed is
 * tried again after some good answers, since a node's error messages may have other causes.
 */
export type LogRangeWidth = ReturnType<typeof createLogRangeWidth>

/**
 * Width of the first ranges: small, because several are requested before the first answer. An answer with few logs
 * increases the width up to fourfold.
 */
const FIRST_BLOCKS = 8
const MAX_BLOCKS = 10_000
/**
 * Desired number of logs per range, about 2 MB of JSON: enough to hide the round trip, few enough to be
 * garbage-collected while they are young.
 */
const TARGET_LOGS = 3_000
/** Desired number of logs per range while the process serves requests, which wait while it works on a range. */
const SHARED_TARGET_LOGS = 500

/**
 * Number of good answers at the lowered maximum width after which the maximum is doubled: few at first, more each time
 * ranges fail again.
 */
const FIRST_PATIENCE = 4
const MOST_PATIENCE = 256
const PATIENCE_FACTOR = 8

/** @param isShared true while the process serves requests: ranges are smaller then */
export function createLogRangeWidth(first = FIRST_BLOCKS, isShared = () => false) {
  let blocks = first
  let ceiling = MAX_BLOCKS
  let held = 0
  let patience = FIRST_PATIENCE
  /** True if a range has worked since the ceiling was lowered. Failures without a success between them count once. */
  let hasWorked = false
  /** Smallest width that failed for an unknown reason; null where the width is not the reason. */
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
      // ignore ranges that were requested before the ceiling was lowered
      if (asked <= ceiling) lower(Math.floor(asked / 2))
    },
    /**
     * A range of this many blocks failed for an unknown reason, but not for a rate limit. A smaller width is tried,
     * and becomes the ceiling if it works.
     */
    failed(asked: number): void {
      suspect = asked > 1 ? Math.min(suspect ?? asked, asked) : null
      blocks = Math.max(1, Math.min(blocks, Math.floor(asked / 2)))
    },
    /** A range of this many blocks returned this many logs. */
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
      const target = isShared() ? SHARED_TARGET_LOGS : TARGET_LOGS
      const fitting = logs === 0 ? asked * 4 : Math.floor((asked * target) / logs)
      blocks = Math.max(1, Math.min(ceiling, fitting, asked * 4))
    },
  }
}
