import { performance } from 'node:perf_hooks'

/** Maximum number of kinds that pass in a window: a kind may quote a client's input. */
export const MAX_KINDS_PER_WINDOW = 500
/** The kind of all kinds above the maximum. */
const AND_MORE = 'and more'

/**
 * Returns a function that is true for each kind once in a window of time, so that faults that repeat do not fill the
 * log. Kinds above `MAX_KINDS_PER_WINDOW` count as one, of which the first passes: made-up kinds do not hide that there are more.
 * @param nowMs a monotonic clock
 */
export function oncePer(
  windowMs: number,
  nowMs: () => number = () => performance.now(),
): (kind: string) => boolean {
  /** When each kind passed, the oldest first. */
  const passedMs = new Map<string, number>()
  return (asked) => {
    const atMs = nowMs()
    for (const [oldest, ms] of passedMs) {
      if (atMs - ms < windowMs) break
      passedMs.delete(oldest)
    }
    const kind = passedMs.size < MAX_KINDS_PER_WINDOW || passedMs.has(asked) ? asked : AND_MORE
    if (passedMs.has(kind)) return false
    passedMs.set(kind, atMs)
    return true
  }
}

/** Kind of an error: its name, and its code if it has one. */
export const errorKind = (error: Error): string =>
  `${error.name} ${'code' in error ? error.code : ''}`
