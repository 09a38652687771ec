import { pauseMsAfterOutage } from './error.js'
import { pause, withTimeLimit } from './time.js'
import type { Transport } from './transport.js'
import type { CallOptions, StatusWord, TransactionStatus } from './types.js'

export interface WaitOptions extends CallOptions {
  /** Status to wait for, or several statuses; default: any status that never changes. */
  until?: StatusWord | readonly StatusWord[] | undefined
}

const ROUTE = '/v1/names/register/tx/{tx}'
/** Statuses that never change. @internal */
export const FINAL_STATUSES: readonly StatusWord[] = ['finalized', 'lost_bid', 'invalid']
const DEFAULT_TIMEOUT_MS = 120_000
/** Time for which the service may hold a status request (long poll), seconds. */
const HELD_S = 25
/** Shortest time between two status requests, if the service does not hold them. It doubles up to the longest. */
const MIN_INTERVAL_MS = 250
/** Longest time between two status requests, if the service does not hold them. */
const MAX_INTERVAL_MS = 5_000

/**
 * Waits until a transaction has a status of `until`. A status that never changes ends the wait too.
 * @throws ClusterdError timeout, and errors of refused requests; the signal's reason
 * @internal
 */
export function waitForStatus(
  transport: Transport,
  tx: string,
  { until = FINAL_STATUSES, signal, timeoutMs = DEFAULT_TIMEOUT_MS }: WaitOptions,
): Promise<TransactionStatus> {
  const awaited = [until, FINAL_STATUSES].flat()
  let since: StatusWord | undefined
  const wait = async (limit: AbortSignal): Promise<TransactionStatus> => {
    let intervalMs = MIN_INTERVAL_MS
    for (;;) {
      const askedMs = Date.now()
      intervalMs = Math.min(2 * intervalMs, MAX_INTERVAL_MS)
      let retryMs = 0
      const query = since && { since, wait: HELD_S }
      const answerMs = transport.timeoutMs + (since ? HELD_S * 1_000 : 0)
      const request = { params: { tx }, query, signal: limit, timeoutMs: answerMs }
      try {
        const answer = (await transport.call('GET', ROUTE, request)) as TransactionStatus
        if (awaited.includes(answer.status)) return answer
        if (answer.status !== since) intervalMs = MIN_INTERVAL_MS
        since = answer.status
      } catch (error) {
        retryMs = pauseMsAfterOutage(error)
      }
      await pause(Math.max(askedMs + intervalMs - Date.now(), retryMs), limit)
    }
  }
  const describeState = () => (since ? `The transaction was still ${since}` : 'There was no answer')
  return withTimeLimit({ timeoutMs, signal }, wait, describeState)
}
