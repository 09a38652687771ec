import { performance } from 'node:perf_hooks'

const EVERY_MS = 60_000

/**
 * Returns a function that reports errors. An error with the name and code of the last reported error is dropped if less
 * than a minute has passed since then.
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
