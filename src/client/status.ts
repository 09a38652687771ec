import { ClusterdError } from './error.js'
import { pause, within } from './time.js'
import type { Transport } from './transport.js'
import type { CallOptions, StatusWord, TransactionStatus } from './types.js'

export interface WaitOptions extends CallOptions {
  /** Status to wait for, or several; default: any that never changes. */
  until?: StatusWord | readonly StatusWord[] | undefined
}

/** Statuses that never change. */
const FINAL: readonly StatusWord[] = ['finalized', 'lost_bid', 'invalid']
const DEFAULT_TIMEOUT_MS = 120_000
/** Time that the service is asked to hold a question, seconds. */
const HELD_S = 25
/** An answer that came sooner was not held for `wait`. */
const HELD_AT_LEAST_MS = 1_000
/** Pauses between questions that are not held. */
const MIN_PAUSE_MS = 250
const MAX_PAUSE_MS = 5_000
/** A clock that is wrong may make a date of Retry-After any. */
const MAX_RETRY_AFTER_MS = 60_000

/**
 * Waits until a transaction has a status; one that never changes ends the wait too.
 * @throws ClusterdError timeout, and what a request is refused for; the signal's reason
 */
export function waitForStatus(
  transport: Transport,
  tx: string,
  { until = FINAL, signal, timeoutMs = DEFAULT_TIMEOUT_MS }: WaitOptions,
): Promise<TransactionStatus> {
  const awaited = [until, FINAL].flat()
  let since: StatusWord | undefined
  const waiting = within(timeoutMs, signal, async (limit) => {
    let pauseMs = MIN_PAUSE_MS
    for (;;) {
      const askedMs = Date.now()
      let retryAfterMs = 0
      const answer = await statusOf(transport, tx, { since, signal: limit }).catch((error: unknown) => {
        if (!(error instanceof ClusterdError) || !(error.isTransient || error.code === 'timeout')) throw error
        retryAfterMs = Math.min(error.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)
        return null
      })
      if (answer && awaited.includes(answer.status)) return answer
      const isHeld = Date.now() - askedMs >= HELD_AT_LEAST_MS
      pauseMs = isHeld || (answer && answer.status !== since) ? MIN_PAUSE_MS : Math.min(2 * pauseMs, MAX_PAUSE_MS)
      since = answer?.status ?? since
      await pause(Math.max(pauseMs, retryAfterMs), limit)
    }
  })
  return waiting.catch((cause: unknown) => {
    if (!since || !(cause instanceof ClusterdError) || cause.code !== 'timeout') throw cause
    throw new ClusterdError('timeout', `The transaction was still ${since} after ${timeoutMs} ms.`, {
      status: 0,
      cause,
    })
  })
}

/** The status now, or once it is no longer `since`. */
function statusOf(
  transport: Transport,
  tx: string,
  { since, signal }: { since: StatusWord | undefined; signal: AbortSignal },
): Promise<TransactionStatus> {
  const query = since && { since, wait: HELD_S }
  const timeoutMs = transport.timeoutMs + (since ? HELD_S * 1_000 : 0)
  const path = '/v1/names/register/tx/{tx}'
  return transport.call('GET', path, { params: { tx }, query, signal, timeoutMs }) as Promise<TransactionStatus>
}
