import { ClusterdError } from './error.js'
import type { CallOptions } from './types.js'

/** Largest delay of a timer, ms; more would end at once. */
const LONGEST_MS = 2 ** 31 - 1

/** Waits; @throws the signal's reason as soon as it is aborted */
export const pause = (timeoutMs: number, signal?: AbortSignal): Promise<void> =>
  within({ timeoutMs, signal }, () => new Promise<never>(() => {})).catch(() =>
    signal?.throwIfAborted(),
  )

/**
 * Runs work under a time limit, and until the caller's signal, whose reason is thrown as it is.
 * @param told says what there was at the limit
 * @throws ClusterdError timeout
 */
export async function within<T>(
  { timeoutMs = Number.POSITIVE_INFINITY, signal }: CallOptions,
  work: (signal: AbortSignal) => Promise<T>,
  told = () => 'There was no answer',
): Promise<T> {
  const stop = new AbortController()
  const late = () => stop.abort(new ClusterdError('timeout', `${told()} after ${timeoutMs} ms.`))
  const end = () => stop.abort(signal?.reason)
  const timer = setTimeout(late, Math.min(timeoutMs, LONGEST_MS))
  signal?.addEventListener('abort', end)
  try {
    signal?.throwIfAborted()
    // the signal of a request may reach nobody: Node forgets it once the head is there
    return await new Promise<T>((resolve, reject) => {
      stop.signal.addEventListener('abort', () => reject(stop.signal.reason))
      work(stop.signal).then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}
