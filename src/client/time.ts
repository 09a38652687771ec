import { ClusterdError } from './error.js'

/** Largest delay of a timer, ms; more would end at once. */
const LONGEST_MS = 2 ** 31 - 1

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
  const stop = new AbortController()
  const late = new ClusterdError('timeout', `There was no answer within ${timeoutMs} ms.`)
  const timer = setTimeout(() => stop.abort(late), Math.min(timeoutMs, LONGEST_MS))
  const end = () => stop.abort(signal?.reason)
  signal?.addEventListener('abort', end)
  // the signal of a request may reach nobody: Node forgets it once the head is there
  const ended = new Promise<never>((_, reject) => {
    stop.signal.addEventListener('abort', () => reject(stop.signal.reason))
  })
  try {
    signal?.throwIfAborted()
    return await Promise.race([ended, work(stop.signal)])
  } catch (error) {
    stop.signal.throwIfAborted()
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}
