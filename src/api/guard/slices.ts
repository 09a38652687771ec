import { setImmediate as turn } from 'node:timers/promises'

/** Elements between which other requests get no turn: some ms of the dearest parsing. */
const AT_ONCE = 100

let last: Promise<unknown> = Promise.resolve()

/** A turn of the event loop for a part of long work. */
function nextTurn(): Promise<unknown> {
  last = last.then(() => turn())
  return last
}

/**
 * Maps many elements without holding the process for as long as all of them take: however many requests do so at once,
 * a turn of the event loop has one part of one of them.
 */
export async function mapInTurns<T, U>(
  items: readonly T[],
  map: (item: T, index: number) => U,
): Promise<U[]> {
  const mapped: U[] = []
  for (const [i, item] of items.entries()) {
    if (i % AT_ONCE === 0 && items.length > AT_ONCE) await nextTurn()
    mapped.push(map(item, i))
  }
  return mapped
}
