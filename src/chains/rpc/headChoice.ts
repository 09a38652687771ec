/** The newest block that a node reports. */
export interface NodeHead {
  height: number
  /** Timestamp of the block, ms. Null where the node does not return it. */
  timeMs: number | null
}

/**
 * How a node's head compares with the reference height of `classifyHeads`. `behind`: more than `behindBlocks` lower.
 * `doubtful`: more than `behindBlocks` higher, or not a block number. `unknown`: the node did not answer.
 */
export type HeadVerdict = 'good' | 'behind' | 'doubtful' | 'unknown'

/** Shortest block time of any public chain, ms. Limits how many blocks one head may be ahead of another. */
export const MIN_BLOCK_TIME_MS = 100

interface HeadComparisonLimits {
  /** Number of blocks by which the heads of honest nodes may differ. */
  behindBlocks: number
  /**
   * Shortest time between two blocks, ms. Limits how many blocks one head may be ahead of another; 0 on a local chain.
   */
  leastBlockMs: number
}

/** Longest time by which a block's timestamp may be ahead of this host's clock, ms. */
const MAX_CLOCK_LEAD_MS = 300_000

/**
 * Compares the heads of a chain's nodes with a reference height: the median of three or more heads, otherwise as
 * `referenceHeightOf` says. A head that is not a block number has no influence on the verdicts about other nodes.
 * @param heads null where a node did not answer
 */
export function classifyHeads(
  heads: readonly (NodeHead | null)[],
  bounds: HeadComparisonLimits,
  nowMs: number,
): HeadVerdict[] {
  const { behindBlocks } = bounds
  const valid = heads.filter((head): head is NodeHead => head !== null && isHeight(head.height))
  const reference =
    valid.length > 2 ? medianHeightOf(valid) : referenceHeightOf(valid, bounds, nowMs)
  return heads.map((head) => {
    if (head === null) return 'unknown'
    if (!isHeight(head.height)) return 'doubtful'
    if (reference === null || Math.abs(head.height - reference) <= behindBlocks) return 'good'
    return head.height < reference ? 'behind' : 'doubtful'
  })
}

const isHeight = (height: number): boolean => Number.isSafeInteger(height) && height >= 0

function medianHeightOf(heads: readonly NodeHead[]): number {
  const heights = heads.map(({ height }) => height).sort((a, b) => a - b)
  return heights[Math.floor(heights.length / 2)]!
}

/**
 * Reference height if at most two heads are valid: null without a valid head. Of two heads, the higher head if it is at
 * most `behindBlocks` ahead, or if its block's timestamp explains the lead. Otherwise the lower head.
 */
function referenceHeightOf(
  heads: readonly NodeHead[],
  { behindBlocks, leastBlockMs }: HeadComparisonLimits,
  nowMs: number,
): number | null {
  const [lower, higher] = [...heads].sort((a, b) => a.height - b.height)
  if (!lower) return null
  if (!higher) return lower.height
  const isInTime = higher.timeMs !== null && higher.timeMs <= nowMs + MAX_CLOCK_LEAD_MS
  const lead = higher.height - lower.height - behindBlocks
  const isExplained = isInTime && higher.timeMs! - (lower.timeMs ?? 0) >= lead * leastBlockMs
  return lead <= 0 || isExplained ? higher.height : lower.height
}

/**
 * The greatest height that at least two nodes have reached. Doubtful heads are left out. -Infinity if fewer than two
 * are left.
 */
export function sharedHeightOf(
  heads: readonly (NodeHead | null)[],
  verdicts: readonly HeadVerdict[],
): number {
  const credible = heads.flatMap((head, i) =>
    head && verdicts[i] !== 'doubtful' ? [head.height] : [],
  )
  return credible.sort((a, b) => b - a)[1] ?? Number.NEGATIVE_INFINITY
}
