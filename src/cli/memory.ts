import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const CHECK_INTERVAL_MS = 30_000
/**
 * The garbage collection, which takes some 100 ms, runs only if the event loop was busy for at most this share of the
 * time since the last check.
 */
const MAX_BUSY_SHARE = 0.25
/**
 * Growth of the heap that makes a collection worthwhile, bytes. It is counted from the heap's smallest size since the
 * last collection, or from `BASE_HEAP_BYTES` if that size was smaller.
 */
const MIN_GROWTH_BYTES = 32 * 2 ** 20
/**
 * Smallest heap size from which growth is counted, bytes. A smaller heap is not worth a collection: compacting it takes
 * 30 MiB more for a moment, and returned 5 MiB when it was measured after a start.
 */
const BASE_HEAP_BYTES = 96 * 2 ** 20

/**
 * Returns memory to the system: when the process is idle, runs a garbage collection of a heap of 128 MiB or more that
 * grew under load. V8 itself waits for further growth, which never comes in an idle process.
 * @returns function that ends the periodic check
 */
export function collectHeapWhenIdle({ everyMs = CHECK_INTERVAL_MS } = {}): () => void {
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
    leftBytes = Math.max(BASE_HEAP_BYTES, Math.min(leftBytes, heapTotal))
    if (utilization > MAX_BUSY_SHARE || heapTotal - leftBytes < MIN_GROWTH_BYTES) return
    // compact the heap: otherwise a memory page with a few live objects would be kept
    setFlagsFromString('--compact-on-every-full-gc')
    collect()
    setFlagsFromString('--no-compact-on-every-full-gc')
    // V8 is still freeing memory: the next check measures how much heap is left
    leftBytes = Number.POSITIVE_INFINITY
  }, everyMs).unref()
  return () => clearInterval(timer)
}
