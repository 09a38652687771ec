import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const LOOK_EVERY_MS = 30_000
/** Maximum share of time for which the event loop may be busy before a collection, which takes some 100 ms. */
const QUIET = 0.25
/** Growth of the heap since the last collection from which another one is worthwhile. */
const WORTH_BYTES = 32 * 2 ** 20

/**
 * Returns memory to the system: collects a heap that grew under load, or at the start, when the process is idle. V8
 * itself waits for further growth, which never comes in an idle process.
 * @returns function that stops it
 */
export function collectHeapWhenIdle({ everyMs = LOOK_EVERY_MS } = {}): () => void {
  setFlagsFromString('--expose-gc')
  // V8 reads the flag when a context is created
  const collect: () => void = runInNewContext('gc')
  let leftBytes = 0
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    const { heapTotal } = process.memoryUsage()
    leftBytes = Math.min(leftBytes, heapTotal)
    if (utilization > QUIET || heapTotal - leftBytes < WORTH_BYTES) return
    // compact: otherwise a page with a few live objects would be kept
    setFlagsFromString('--compact-on-every-full-gc')
    collect()
    setFlagsFromString('--no-compact-on-every-full-gc')
    // the sweep is still running: the next step measures what is left
    leftBytes = Number.POSITIVE_INFINITY
  }, everyMs).unref()
  return () => clearInterval(timer)
}
