/** Time for which others wait for an answer that is under way, ms: one that hangs is asked for again. */
const UNDER_WAY_MS = 2_000

/** Serves an answer for some time before it is asked for again; a failure is not kept. */
export function servedFor<T>(forMs: number, ask: () => Promise<T>, nowMs?: () => number): () => Promise<T> {
  return servedByKey(ask, { forMs: () => forMs, most: 1, nowMs })
}

export interface ServedOptions<T, A extends readonly unknown[] = []> {
  /** Time for which an answer is served, ms; from its question on. */
  forMs: (answer: T) => number
  /** Answers that are kept; the oldest makes room. */
  most: number
  /** Questions of one key have one answer; default: all that is asked of. */
  keyOf?: (...of: A) => string
  nowMs?: (() => number) | undefined
}

/**
 * Serves answers by their questions, each for some time before it is asked for again. Who asks the same at once shares
 * one answer; a failure is not kept.
 */
export function servedByKey<A extends readonly unknown[], T>(
  ask: (...of: A) => Promise<T>,
  { forMs, most, keyOf = (...of) => of.join(' '), nowMs = Date.now }: ServedOptions<T, A>,
): (...of: A) => Promise<T> {
  const known = new Map<string, { answer: Promise<T>; atMs: number; untilMs: number }>()
  return (...of) => {
    const key = keyOf(...of)
    const atMs = nowMs()
    const before = known.get(key)
    // not from before the clock was set back, either: it would be served until that time comes again
    if (before && before.atMs <= atMs && atMs < before.untilMs) return before.answer
    // a map gives its keys in the order in which they were set
    known.delete(key)
    if (known.size >= most) known.delete(known.keys().next().value!)
    const asked = { answer: ask(...of), atMs, untilMs: atMs + UNDER_WAY_MS }
    known.set(key, asked)
    asked.answer.then(
      (answer) => {
        asked.untilMs = atMs + forMs(answer)
      },
      () => {
        if (known.get(key) === asked) known.delete(key)
      },
    )
    return asked.answer
  }
}
