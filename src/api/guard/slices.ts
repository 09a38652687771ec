import { setImmediate as turn } from 'node:timers/promises'

/** Elements between which other requests get no turn: some milliseconds of the dearest parsing. */
const AT_ONCE = 100

/** Maps many elements without holding the process for as long as all of them take. */
export async function mapInTurns<T, U>(items: readonly T[], map: (item: T, index: number) => U): Promise<U[]> {
  const mapped: U[] = []
  for (const [i, item] of items.entries()) {
    if (i > 0 && i % AT_ONCE === 0) await turn()
    mapped.push(map(item, i))
  }
  return mapped
}
