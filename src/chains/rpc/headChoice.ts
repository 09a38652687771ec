/** The newest block that a node says there is. */
export interface Head {
  height: number
  /** Time of its block, null where the node doesn't tell. */
  timeMs: number | null
}

/**
 * `behind`: others are further. `doubtful`: further than others without a good reason, or no number. `unknown`: it
 * didn't answer.
 */
export type HeadVerdict = 'good' | 'behind' | 'doubtful' | 'unknown'

/** No public chain has faster blocks; bounds by how much a head may lead in the time between two blocks. */
export const LEAST_BLOCK_MS = 100
export interface HeadBounds {
  /** By how much honest heads may differ. */
  behindBlocks: number
  /** Time that each block of a lead takes at least; 0 on a local chain. */
  leastBlockMs: number
}

/** Bounds what clocks may differ by. */
const AHEAD_OF_US_MS = 300_000

/**
 * Judges the heads of several nodes of a chain. With three or more the median counts; with two, the higher one is
 * believed as far as the time of its block explains the lead. A number that is none never makes others look behind.
 * @param heads null where a node didn't answer
 */
export function judgeHeads(
  heads: readonly (Head | null)[],
  bounds: HeadBounds,
  nowMs: number,
): HeadVerdict[] {
  const { behindBlocks } = bounds
  const valid = heads.filter((head): head is Head => head !== null && isHeight(head.height))
  const reference = valid.length > 2 ? medianOf(valid) : leaderOf(valid, bounds, nowMs)
  return heads.map((head) => {
    if (head === null) return 'unknown'
    if (!isHeight(head.height)) return 'doubtful'
    if (reference === null || Math.abs(head.height - reference) <= behindBlocks) return 'good'
    return head.height < reference ? 'behind' : 'doubtful'
  })
}

const isHeight = (height: number): boolean => Number.isSafeInteger(height) && height >= 0

function medianOf(heads: readonly Head[]): number {
  const heights = heads.map(({ height }) => height).sort((a, b) => a - b)
  return heights[Math.floor(heights.length / 2)]!
}

/** The height that two nodes, or one, are measured by. */
function leaderOf(
  heads: readonly Head[],
  { behindBlocks, leastBlockMs }: HeadBounds,
  nowMs: number,
): number | null {
  const [last, first] = [...heads].sort((a, b) => a.height - b.height)
  if (!last) return null
  if (!first) return last.height
  const isNow = first.timeMs !== null && first.timeMs <= nowMs + AHEAD_OF_US_MS
  const lead = first.height - last.height - behindBlocks
  const isExplained = isNow && first.timeMs! - (last.timeMs ?? 0) >= lead * leastBlockMs
  return lead <= 0 || isExplained ? first.height : last.height
}

/** The height that two nodes have reached, without doubtful heads; -Infinity where fewer answered. */
export function sharedHeightOf(
  heads: readonly (Head | null)[],
  verdicts: readonly HeadVerdict[],
): number {
  const credible = heads.flatMap((head, i) =>
    head && verdicts[i] !== 'doubtful' ? [head.height] : [],
  )
  return credible.sort((a, b) => b - a)[1] ?? Number.NEGATIVE_INFINITY
}
