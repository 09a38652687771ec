import { setTimeout as sleep } from 'node:timers/promises'

/** Wakes one waiting loop of this process before its pause ends, as Tokio's `Notify` does. */
export interface Notify {
  notify(): void
  /**
   * Waits until the time is over, the signal fires, or `notify()`; a notification while nobody waits ends the next
   * wait.
   */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export function createNotify(): Notify {
  let isNotified = false
  let wake: (() => void) | null = null
  return {
    notify() {
      isNotified = true
      wake?.()
    },
    async wait(ms, signal) {
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
