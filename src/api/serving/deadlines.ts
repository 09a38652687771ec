/** Begins a time limit, at whose end the function is called. @returns function that forgets it */
export type Begin = (onEnd: () => void) => () => void

/** Creates time limits that all last equally long, under one timer: whichever began first ends first. */
export function createDeadlines(limitMs: number): Begin {
  const running = new Set<{ endMs: number; onEnd: () => void }>()
  let timer: NodeJS.Timeout | null = null
  const wait = (ms: number) => {
    timer = setTimeout(expire, ms).unref()
  }
  const expire = () => {
    timer = null
    const nowMs = performance.now()
    for (const deadline of running) {
      if (deadline.endMs > nowMs) return wait(deadline.endMs - nowMs)
      running.delete(deadline)
      deadline.onEnd()
    }
  }
  return (onEnd) => {
    const deadline = { endMs: performance.now() + limitMs, onEnd }
    running.add(deadline)
    if (!timer) wait(limitMs)
    return () => void running.delete(deadline)
  }
}
