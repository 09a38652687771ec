import { ClusterdError } from './error.js'
import type { CallOptions } from './types.js'

/** Largest delay of a timer, ms; a larger one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1

/** Resolves after `timeoutMs`. @throws the signal's reason as soon as the signal is aborted */
export const pause = (timeoutMs: number, signal?: AbortSignal): Promise<void> =>
  withTimeLimit({ timeoutMs, signal }, () => new Promise<never>(() => {})).catch(() =>
    signal?.throwIfAborted(),
  )

/**
 * Runs work until it ends, its time limit passes or the caller's signal is aborted. The signal's reason is thrown
 * unchanged.
 * @param describeState describes the state when the time limit passes, for the message
 * @throws ClusterdError timeout
 */
export async function withTimeLimit<T>(
  { timeoutMs = Number.POSITIVE_INFINITY, signal }: CallOptions,
  work: (signal: AbortSignal) => Promise<T>,
  describeState = () => 'There was no answer',
): Promise<T> {
  const stop = new AbortController()
  const late = () =>
    stop.abort(new ClusterdError('timeout', `${describeState()} after ${timeoutMs} ms.`))
  const end = () => stop.abort(signal?.reason)
  const timer = setTimeout(late, Math.min(timeoutMs, LONGEST_MS))
  signal?.addEventListener('abort', end)
  try {
    signal?.throwIfAborted()
    // do not rely on fetch's signal: Node no longer observes it once the response's headers have arrived
    return await new Promise<T>((resolve, reject) => {
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason))
      work(stop.signal).then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}
