import type { Logger } from 'pino'

/** Time window in which equal faults are counted. */
export const FAULT_WINDOW_MS = 5_000

/** A request that failed because of the service, not because of its caller. */
export interface ServiceFault {
  id: string
  trace?: string | undefined
  method: string
  /** Pattern of the route. */
  route: string
  status: number
  err: unknown
}

/** Logs the first of equal faults at once, and at the end of the window how many more followed. */
export function createFaultLog(log: Logger): (fault: ServiceFault) => void {
  const counts = new Map<string, number>()
  return (fault) => {
    const { method, route, status, err } = fault
    const kind = [method, route, status, err instanceof Error ? err.name : ''].join(' ')
    const counted = counts.get(kind)
    if (counted !== undefined) return void counts.set(kind, counted + 1)
    counts.set(kind, 0)
    if (status === 500) log.error({ ...fault }, 'a request failed')
    else log.warn({ ...fault }, 'a request could not be served')
    const timer = setTimeout(() => {
      const count = counts.get(kind)
      counts.delete(kind)
      if (count)
        log.warn(
          { method, route, status, count, ms: FAULT_WINDOW_MS },
          'more requests failed with the same error',
        )
    }, FAULT_WINDOW_MS)
    timer.unref()
  }
}
