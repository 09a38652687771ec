/** An answer, and the head of its node's chain when it was given. */
export interface Look<T> {
  answer: T
  head: number
}

/**
 * Two answers that may confirm each other, for what is believed for ever: those of two nodes, or those of one node at
 * two heads, since a mix-up of answers doesn't last.
 * @param looks of one step, each of another node, the first node's first
 * @param before the look of an earlier step whose answer nothing has confirmed
 * @returns null while there is only one
 */
export function pairOf<T>(looks: readonly Look<T>[], before: Look<T> | null): readonly [T, T] | null {
  const [first, second] = looks
  if (first && second) return [first.answer, second.answer]
  return first && before && first.head > before.head ? [before.answer, first.answer] : null
}
