import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { vi } from 'vitest'

/**
 * A clock that tests advance. It replaces the monotonic clock and the timeouts of calls, so that pauses and timeouts
 * take no time.
 */
export function useTestClock() {
  let nowMs = 1e9
  let limits: { untilMs: number; controller: AbortController }[] = []
  const spies = [
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs),
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const controller = new AbortController()
      limits.push({ untilMs: nowMs + ms, controller })
      return controller.signal
    }),
  ]
  const advance = (ms: number): void => {
    nowMs += ms
    const over = limits.filter(({ untilMs }) => untilMs <= nowMs)
    limits = limits.filter(({ untilMs }) => untilMs > nowMs)
    for (const { controller } of over) controller.abort()
  }
  return {
    get nowMs(): number {
      return nowMs
    },
    advance,
    /** Advances the clock until a call without an answer has timed out. */
    async exceedLimit(isOver: () => boolean, isQuiet: () => boolean): Promise<void> {
      while (!isQuiet()) await sleep(1)
      await sleep(2)
      while (!isOver() && limits.length > 0) {
        advance(Math.max(0, Math.min(...limits.map(({ untilMs }) => untilMs)) - nowMs))
        for (let i = 0; i < 3; i++) await setImmediate()
      }
    },
    restore(): void {
      for (const spy of spies) spy.mockRestore()
    },
  }
}

export type TestClock = ReturnType<typeof useTestClock>
