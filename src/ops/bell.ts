import { setTimeout as sleep } from 'node:timers/promises'

/** Wakes a loop before its time. */
export interface Bell {
  ring(): void
  /** Waits for a time or until it is rung or the signal fires; a ring while nobody waits counts for the next wait. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export function createBell(): Bell {
  let isRung = false
  let wake: (() => void) | null = null
  return {
    ring() {
      isRung = true
      wake?.()
    },
    async wait(ms, signal) {
      if (!isRung) {
        const ended = new AbortController()
        const rung = new Promise<void>((resolve) => {
          wake = resolve
        })
        await Promise.race([rung, pause(ms, AbortSignal.any([signal, ended.signal]))])
        ended.abort()
        wake = null
      }
      isRung = false
    },
  }
}

/** Waits for a time or until the signal fires. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => {})
