import { setTimeout as sleep } from 'node:timers/promises'

/** Wakes one waiting loop of this process before its pause ends, as Tokio's `Notify` does. */
export type Notify = ReturnType<typeof createNotify>

export function createNotify() {
  let isNotified = false
  let wake: (() => void) | null = null
  return {
    notify(): void {
      isNotified = true
      wake?.()
    },
    /** Waits until the time is over, the signal fires, or `notify()`, of which one before the wait counts too. */
    async wait(ms: number, signal: AbortSignal): Promise<void> {
      if (!isNotified) {
        const ended = new AbortController()
        const notified = new Promise<void>((resolve) => {
          wake = resolve
        })
        await Promise.race([notified, pause(ms, AbortSignal.any([signal, ended.signal]))])
        ended.abort()
        wake = null
      }
      isNotified = false
    },
  }
}

/** Waits until the time is over or the signal fires. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => {})
}

/** An answer that is waited for at most this long; `otherwise` after that. @throws as the answer does in time */
export async function inTime<T, Late>(ms: number, answer: Promise<T>, otherwise: Late): Promise<T | Late> {
  const ended = new AbortController()
  const late = pause(ms, ended.signal).then(() => otherwise)
  return Promise.race([answer, late]).finally(() => ended.abort())
}
