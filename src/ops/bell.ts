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

/** Pauses of a loop whose step failed, by how often in a row before; the last one stays. */
const ERROR_PAUSES_MS = [250, 500, 1_000, 2_000, 5_000]

/** Waits after a step that failed, or until the signal fires. @param failures steps that failed in a row before it */
export const pauseAfterError = (failures: number, signal: AbortSignal): Promise<void> =>
  pause(ERROR_PAUSES_MS[Math.min(failures, ERROR_PAUSES_MS.length - 1)]!, signal)
