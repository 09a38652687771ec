import { setTimeout as sleep } from 'node:timers/promises'

/** Wakes one waiting loop of this process before its pause ends, as Tokio's `Notify` does. */
export type Notify = ReturnType<typeof createNotify>

export function createNotify() {
  let told: 'nothing' | 'block' | 'news' = 'nothing'
  let wake: (() => void) | null = null
  const tell = (what: 'block' | 'news') => (): void => {
    if (told !== 'news') told = what
    wake?.()
  }
  return {
    notify: tell('news'),
    /** Says that a chain has another block: it wakes who waits for one. */
    block: tell('block'),
    /**
     * Waits until the time is over, the signal fires, or `notify()`, of which one before the wait counts too.
     * @param isForBlocks whether `block()` ends the wait as well
     */
    async wait(ms: number, signal: AbortSignal, isForBlocks = true): Promise<void> {
      const isTold = () => told === 'news' || (isForBlocks && told === 'block')
      if (!isTold() && !signal.aborted) {
        // no signal of its own: those leave what only a full collection takes
        await new Promise<void>((resolve) => {
          const end = () => {
            clearTimeout(timer)
            signal.removeEventListener('abort', end)
            resolve()
          }
          const timer = setTimeout(end, ms)
          signal.addEventListener('abort', end)
          wake = () => isTold() && end()
        })
        wake = null
      }
      told = 'nothing'
    },
  }
}

/** Pauses after failures in a row, ms, by what fails; the last one stays. */
export const PAUSES_MS = {
  /** Step of a worker. */
  step: [250, 500, 1_000, 2_000, 5_000],
  /** Job of the outbox. */
  job: [5_000, 10_000, 30_000, 60_000, 180_000, 600_000, 1_800_000, 3_600_000],
  /** Questions to a chain about a payer. */
  payer: [1_000, 2_000, 5_000, 10_000, 30_000],
  /** Message to a webhook. */
  webhook: [2_000, 10_000, 60_000, 300_000, 1_800_000, 3_600_000],
} as const

/** The pause after a number of failures in a row, at least 1. */
export const pauseAfter = (failures: number, pausesMs: readonly number[]): number =>
  pausesMs[Math.min(Math.max(failures, 1), pausesMs.length) - 1]!

/** Waits until the time is over or the signal fires. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => {})
}

/** At most this long; `otherwise` after that. @throws as the answer does in time */
export async function inTime<T, Late>(
  ms: number,
  answer: Promise<T>,
  otherwise: Late,
): Promise<T | Late> {
  const ended = new AbortController()
  const late = pause(ms, ended.signal).then(() => otherwise)
  return Promise.race([answer, late]).finally(() => ended.abort())
}
