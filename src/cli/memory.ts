import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const LOOK_EVERY_MS = 30_000
/** Share of its time for which the event loop may be busy before a collection, which takes some 100 ms. */
const QUIET = 0.25
/** Growth over what the last collection left from which one is worth its time. */
const WORTH_BYTES = 32 * 2 ** 20

/**
 * Gives memory back to the system: a heap that grew under load, or at the start, is collected when the process has
 * little to do. V8 itself waits until the heap has grown further, which in an idle process takes for ever.
 * @returns what ends it
 */
export function giveMemoryBack({ everyMs = LOOK_EVERY_MS } = {}): () => void {
  setFlagsFromString('--expose-gc')
  // the flag is read where a context is made
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
    // live objects are moved together: pages that hold a few of them would be kept
    setFlagsFromString('--compact-on-every-full-gc')
    collect()
    setFlagsFromString('--no-compact-on-every-full-gc')
    // the rest shows only once all is swept
    leftBytes = Number.POSITIVE_INFINITY
  }, everyMs).unref()
  return () => clearInterval(timer)
}
