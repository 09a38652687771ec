/** Begins a time limit, at whose end the function is called. @returns function that forgets it */
export type Begin = (onEnd: () => void) => () => void

interface Deadline {
  endMs: number
  onEnd: () => void
}

/**
 * Creates time limits that all last equally long, under one timer. They stand in slots that are used again: a Set's
 * old tables point to its newer ones, which kept what each request had until the next full collection.
 */
export function createDeadlines(limitMs: number): Begin {
  const slots: (Deadline | null)[] = []
  const free: number[] = []
  let timer: NodeJS.Timeout | null = null
  const wait = (ms: number) => {
    timer = setTimeout(expire, ms).unref()
  }
  const forget = (slot: number, deadline: Deadline) => {
    if (slots[slot] !== deadline) return
    slots[slot] = null
    free.push(slot)
  }
  const expire = () => {
    timer = null
    const nowMs = performance.now()
    let nextMs = Number.POSITIVE_INFINITY
    for (const [slot, deadline] of slots.entries()) {
      if (!deadline) continue
      if (deadline.endMs > nowMs) nextMs = Math.min(nextMs, deadline.endMs)
      else {
        forget(slot, deadline)
        deadline.onEnd()
      }
    }
    if (nextMs < Number.POSITIVE_INFINITY) wait(nextMs - nowMs)
  }
  return (onEnd) => {
    const slot = free.pop() ?? slots.length
    const deadline = { endMs: performance.now() + limitMs, onEnd }
    slots[slot] = deadline
    if (!timer) wait(limitMs)
    return () => forget(slot, deadline)
  }
}
