import type { Logger } from 'pino'

/** Time in which one of equal faults is logged. The metrics count all of them. */
export const FAULT_WINDOW_MS = 5_000

/** Logs the first fault of a kind in each window, so that an outage does not fill the disk. */
export function createFaultLog(log: Logger): (kind: string, fields: object) => void {
  const loggedMs = new Map<string, number>()
  return (kind, fields) => {
    const nowMs = performance.now()
    if (nowMs - (loggedMs.get(kind) ?? Number.NEGATIVE_INFINITY) < FAULT_WINDOW_MS) return
    loggedMs.set(kind, nowMs)
    log.warn(fields, 'a request could not be served')
  }
}
