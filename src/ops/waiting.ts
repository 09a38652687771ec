import { setTimeout as sleep } from 'node:timers/promises'

/** Ends the pause of one waiting loop of this process, as `Notify` of Rust's Tokio does. */
export type LoopWaker = ReturnType<typeof createLoopWaker>

export function createLoopWaker() {
  let pending: 'nothing' | 'block' | 'news' = 'nothing'
  let wake: (() => void) | null = null
  const wakeFor = (what: 'block' | 'news') => (): void => {
    if (pending !== 'news') pending = what
    wake?.()
  }
  return {
    notify: wakeFor('news'),
    /** Reports a new block of a chain, which wakes a loop that waits for blocks. `runRelayer` calls it by its name. */
    block: wakeFor('block'),
    /**
     * Waits for `notify()`, the timeout or the signal. A `notify()` since the previous wait ends the wait immediately.
     * @param isForBlocks whether `block()` ends the wait too
     */
    async wait(ms: number, signal: AbortSignal, isForBlocks = true): Promise<void> {
      const isWoken = () => pending === 'news' || (isForBlocks && pending === 'block')
      if (!isWoken() && !signal.aborted) {
        // no AbortSignal per wait: only a full garbage collection frees such signals
        await new Promise<void>((resolve) => {
          const end = () => {
            clearTimeout(timer)
            signal.removeEventListener('abort', end)
            resolve()
          }
          const timer = setTimeout(end, ms)
          signal.addEventListener('abort', end)
          wake = () => isWoken() && end()
        })
        wake = null
      }
      pending = 'nothing'
    },
  }
}

/** Pauses after the first, second, … failure in a row, ms, by the work that fails. The last pause is repeated. */
export const BACKOFF_PAUSES_MS = {
  /** Pauses before a worker's step is repeated. */
  step: [250, 500, 1_000, 2_000, 5_000],
  /** Pauses before a job of the outbox is repeated. */
  job: [5_000, 10_000, 30_000, 60_000, 180_000, 600_000, 1_800_000, 3_600_000],
  /** Pauses before a payer's balance is read from a chain again. */
  payer: [1_000, 2_000, 5_000, 10_000, 30_000],
  /** Pauses before a message to a webhook is repeated. */
  webhook: [2_000, 10_000, 60_000, 300_000, 1_800_000, 3_600_000],
  /** Pauses before a witness of a log is asked again. */
  witness: [1_000, 5_000, 15_000, 60_000],
} as const

/** The pause after a number of failures in a row (at least 1), ms. */
export const backoffPauseMs = (failures: number, pausesMs: readonly number[]): number =>
  pausesMs[Math.min(Math.max(failures, 1), pausesMs.length) - 1]!

/** Waits until the time has passed or the signal fires. */
export function pauseUntilSignal(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => {})
}

/**
 * Returns the answer, or `otherwise` if the answer takes longer than `ms`.
 * @throws the answer's error, if it fails in time
 */
export async function withTimeout<T, Late>(
  ms: number,
  answer: Promise<T>,
  otherwise: Late,
): Promise<T | Late> {
  const ended = new AbortController()
  const late = pauseUntilSignal(ms, ended.signal).then(() => otherwise)
  return Promise.race([answer, late]).finally(() => ended.abort())
}
