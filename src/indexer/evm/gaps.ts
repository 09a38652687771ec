/** Place of an item in the count from 1 that its contract keeps per path, and on its chain. */
export interface Counted {
  path: string
  number: bigint
  block: number
}

/** Items that are missing from a path's count. */
export interface Gap {
  /** The last item before them, null where none is known. */
  from: Counted | null
  to: Counted
}

/**
 * Finds the jumps of consecutive counts.
 * @param known the newest item of each path before these
 * @param items in the order of their chain; earlier ones may come again after a restart
 */
export function gapsIn(known: readonly Counted[], items: readonly Counted[]): Gap[] {
  const newest = new Map(known.map((item) => [item.path, item]))
  const gaps: Gap[] = []
  for (const item of items) {
    const from = newest.get(item.path) ?? null
    if (from && item.number <= from.number) continue
    if (item.number !== (from?.number ?? 0n) + 1n) gaps.push({ from, to: item })
    newest.set(item.path, item)
  }
  return gaps
}

export const isInside = ({ from, to }: Gap, { path, number }: Counted): boolean =>
  path === to.path && number > (from?.number ?? 0n) && number < to.number

/**
 * Whether items fill a gap, in whatever order.
 * @param isTail whether the first numbers may be missing, of a path that is watched from later on
 */
export function isFilled(gap: Gap, items: readonly Counted[], isTail = false): boolean {
  const found = new Set(items.filter((item) => isInside(gap, item)).map(({ number }) => number))
  const first = isTail ? [...found].reduce((a, b) => (b < a ? b : a), gap.to.number) : (gap.from?.number ?? 0n) + 1n
  return BigInt(found.size) === gap.to.number - first
}
