import { ClusterdError } from './error.js'
import type { CallOptions } from './types.js'

/** Largest delay of a timer, ms. A timer with a larger delay would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Reason of an aborted signal. Signals of older React Native have none. */
export const abortReasonOf = (signal: AbortSignal): unknown =>
  signal.reason ?? Object.assign(new Error('The call was aborted.'), { name: 'AbortError' })

/** Resolves after `timeoutMs`. @throws the signal's reason as soon as the signal is aborted */
export const pause = (timeoutMs: number, signal?: AbortSignal): Promise<void> =>
  withTimeLimit({ timeoutMs, signal }, () => new Promise<never>(() => {})).catch(() => {
    if (signal?.aborted) throw abortReasonOf(signal)
  })

/**
 * Runs work until it ends, its time limit passes or the caller's signal is aborted. The signal's reason is thrown
 * unchanged.
 * @param describeState describes the state when the time limit passes, for the message
 * @throws ClusterdError timeout; errors of the work
 */
export async function withTimeLimit<T>(
  { timeoutMs = Number.POSITIVE_INFINITY, signal }: CallOptions,
  work: (signal: AbortSignal) => Promise<T>,
  describeState = () => 'There was no answer',
): Promise<T> {
  if (signal?.aborted) throw abortReasonOf(signal)
  const stop = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let end = () => {}
  try {
    // do not rely on the signal of `fetch`: Node ignores that signal once the response's headers have arrived
    return await new Promise<T>((resolve, reject) => {
      const give = (reason: unknown) => {
        reject(reason)
        stop.abort(reason)
      }
      end = () => give(abortReasonOf(signal!))
      const late = () =>
        give(new ClusterdError('timeout', `${describeState()} after ${timeoutMs} ms.`))
      timer = setTimeout(late, Math.min(timeoutMs, MAX_TIMER_MS))
      signal?.addEventListener('abort', end)
      work(stop.signal).then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}
