import { performance } from 'node:perf_hooks'

/**
 * Maximum number of kinds of faults that a throttle lets pass in a window. It bounds the log, because a kind may quote
 * a client's input.
 */
export const MAX_KINDS_PER_WINDOW = 500
/** Kind that stands for all further kinds once `MAX_KINDS_PER_WINDOW` kinds have passed. */
const FURTHER_KINDS = 'and more'

/**
 * Returns a function that is true for each kind once in a window of time, so that repeated faults do not fill the log.
 * After `MAX_KINDS_PER_WINDOW` kinds, all further kinds count as one: the function is true once more.
 * @param nowMs a monotonic clock
 */
export function createThrottle(
  windowMs: number,
  nowMs: () => number = () => performance.now(),
): (kind: string) => boolean {
  /** Time at which each kind was last let pass, ms, oldest first. */
  const passedMs = new Map<string, number>()
  return (asked) => {
    const atMs = nowMs()
    for (const [oldest, ms] of passedMs) {
      if (atMs - ms < windowMs) break
      passedMs.delete(oldest)
    }
    const kind = passedMs.size < MAX_KINDS_PER_WINDOW || passedMs.has(asked) ? asked : FURTHER_KINDS
    if (passedMs.has(kind)) return false
    passedMs.set(kind, atMs)
    return true
  }
}

/** Kind of an error: its name, and its code if it has one. */
export const errorKind = (error: Error): string =>
  `${error.name} ${'code' in error ? error.code : ''}`
