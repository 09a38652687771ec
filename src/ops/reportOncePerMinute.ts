import { performance } from 'node:perf_hooks'

const EVERY_MS = 60_000

/**
 * Reports repeated failures: the first at once, further ones with its name and code at most once a minute.
 * @param nowMs a monotonic clock
 */
export function reportOncePerMinute(
  report: (error: Error) => void,
  nowMs: () => number = () => performance.now(),
): (error: Error) => void {
  let last = { kind: '', atMs: Number.NEGATIVE_INFINITY }
  return (error) => {
    const kind = `${error.name} ${'code' in error ? error.code : ''}`
    if (kind === last.kind && nowMs() - last.atMs < EVERY_MS) return
    last = { kind, atMs: nowMs() }
    report(error)
  }
}
