import { ClusterdError } from './error.js'

/** Waits; @throws the signal's reason as soon as it is aborted */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    function end() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
  })
}

/**
 * Runs work under a time limit.
 * @param signal of the caller, whose reason is thrown as it is
 * @throws ClusterdError timeout
 */
export async function within<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = AbortSignal.timeout(timeoutMs)
  try {
    return await work(signal ? AbortSignal.any([signal, limit]) : limit)
  } catch (error) {
    signal?.throwIfAborted()
    if (!limit.aborted) throw error
    throw new ClusterdError('timeout', `There was no answer within ${timeoutMs} ms.`)
  }
}
