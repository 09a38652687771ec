/** Runs `ask` for all items, in batches of `size` one after the other. @returns the answers in the items' order */
export async function mapInBatches<T, R>(
  items: readonly T[],
  size: number,
  ask: (item: T) => Promise<R>,
): Promise<R[]> {
  const answers: R[] = []
  for (let i = 0; i < items.length; i += size)
    answers.push(...(await Promise.all(items.slice(i, i + size).map(ask))))
  return answers
}
