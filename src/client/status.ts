import { pauseMsAfterOutage } from './error.js'
import { pause, withTimeLimit } from './time.js'
import type { Transport } from './transport.js'
import type { CallOptions, StatusWord, TransactionStatus } from './types.js'

export interface WaitOptions extends CallOptions {
  /** Status to wait for, or several statuses; default: any status that never changes. */
  until?: StatusWord | readonly StatusWord[] | undefined
}

const STATUS_ROUTE = '/v1/names/register/tx/{tx}'
/** Statuses that never change. */
const FINAL_STATUSES: readonly StatusWord[] = ['finalized', 'lost_bid', 'invalid']
/** Whether a transaction's status never changes. @internal */
export const isFinalStatus = ({ status }: Pick<TransactionStatus, 'status'>): boolean =>
  FINAL_STATUSES.includes(status)

const WAIT_TIMEOUT_MS = 120_000
/** Default time limit of `followStatus`: enough for a slow bridge, finality of Ethereum and an outage. */
const FOLLOW_TIMEOUT_MS = 3_600_000
/** Time for which the service may delay a status response (long poll), seconds. */
const LONG_POLL_S = 25
/**
 * Shortest time between two status requests, if the service does not delay responses. Each further time is twice as
 * long, up to the longest.
 */
const MIN_INTERVAL_MS = 250
/** Longest time between two status requests, if the service does not delay responses. */
const MAX_INTERVAL_MS = 5_000

/**
 * Yields the status of a transaction, and each status that differs from the one before. Ends after a final status.
 * @throws ClusterdError timeout, and errors of refused requests; the signal's reason
 * @internal
 */
export async function* followStatus(
  transport: Transport,
  tx: string,
  { signal, timeoutMs = FOLLOW_TIMEOUT_MS }: CallOptions,
): AsyncGenerator<TransactionStatus, void, undefined> {
  const endsMs = Date.now() + timeoutMs
  let last: TransactionStatus | undefined
  const describeState = () =>
    last ? `The transaction is ${last.status}, without a change` : 'There was no answer'
  do {
    const limit = { signal, timeoutMs: endsMs - Date.now() }
    last = await withTimeLimit(
      limit,
      (ends) => nextStatus(transport, tx, last, ends),
      describeState,
    )
    yield last
  } while (!isFinalStatus(last))
}

/** Resolves with the first status that differs from the last one. Failed requests are repeated during an outage. */
async function nextStatus(
  transport: Transport,
  tx: string,
  last: TransactionStatus | undefined,
  signal: AbortSignal,
): Promise<TransactionStatus> {
  const since = last?.status
  const request = {
    params: { tx },
    query: since && { since, wait: LONG_POLL_S },
    signal,
    timeoutMs: transport.timeoutMs + (since ? LONG_POLL_S * 1_000 : 0),
  }
  let intervalMs = MIN_INTERVAL_MS
  let pauseMs = since ? MIN_INTERVAL_MS : 0
  for (;;) {
    await pause(pauseMs, signal)
    const askedMs = Date.now()
    intervalMs = Math.min(2 * intervalMs, MAX_INTERVAL_MS)
    try {
      const answer = (await transport.call('GET', STATUS_ROUTE, request)) as TransactionStatus
      if (JSON.stringify(answer) !== JSON.stringify(last)) return answer
      pauseMs = askedMs + intervalMs - Date.now()
    } catch (error) {
      // random jitter: the clients of a service that was down must not all return at the same time
      pauseMs = pauseMsAfterOutage(error) + intervalMs * (0.5 + Math.random())
    }
  }
}

/**
 * Waits until a transaction has a status of `until`, or a final status.
 * @throws ClusterdError timeout, and errors of refused requests; the signal's reason
 * @internal
 */
export async function waitForStatus(
  transport: Transport,
  tx: string,
  { until = FINAL_STATUSES, timeoutMs = WAIT_TIMEOUT_MS, signal }: WaitOptions,
): Promise<TransactionStatus> {
  let last: TransactionStatus | undefined
  for await (last of followStatus(transport, tx, { timeoutMs, signal }))
    if ([until].flat().includes(last.status)) break
  return last!
}
