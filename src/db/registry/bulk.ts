/**
 * Reads what belongs to inputs, each of which is asked for once: a request that repeats one would multiply its time.
 * @param read rows of distinct inputs, with their position from 1
 * @returns one element per input, in their order; null where there is no row
 */
export async function readOnce<Input, Row extends { ord: number }>(
  inputs: readonly Input[],
  keyOf: (input: Input) => string,
  read: (distinct: Input[]) => Promise<Row[]>,
): Promise<(Omit<Row, 'ord'> | null)[]> {
  if (inputs.length === 0) return []
  const keys = inputs.map(keyOf)
  const distinct = new Map(inputs.map((input, i) => [keys[i]!, input]))
  const asked = [...distinct.keys()]
  const found = new Map<string, Omit<Row, 'ord'>>()
  for (const { ord, ...row } of await read([...distinct.values()])) found.set(asked[ord - 1]!, row)
  return keys.map((key) => found.get(key) ?? null)
}
