/**
 * `behind`: others are further. `doubtful`: further than others, or no number. `unknown`: it didn't answer.
 */
export type HeadVerdict = 'good' | 'behind' | 'doubtful' | 'unknown'

/**
 * Judges the heights of several nodes of a chain by their median; of two, by the higher one. A number that is none
 * never makes others look behind.
 * @param heights null where a node didn't answer
 * @param behindBlocks by how much honest heights may differ
 */
export function judgeHeads(heights: readonly (number | null)[], behindBlocks: number): HeadVerdict[] {
  const valid = heights.filter((height) => height !== null).filter(isHeight)
  const reference = valid.sort((a, b) => a - b)[valid.length >> 1] ?? 0
  return heights.map((height) => {
    if (height === null) return 'unknown'
    if (!isHeight(height)) return 'doubtful'
    if (Math.abs(height - reference) <= behindBlocks) return 'good'
    return height < reference ? 'behind' : 'doubtful'
  })
}

const isHeight = (height: number): boolean => Number.isSafeInteger(height) && height >= 0
