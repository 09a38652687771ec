/** Lines of a metric on an operator's port, with or without labels. */
export async function metricLines(ops: string, name: string): Promise<string[]> {
  const text = await (await fetch(`${ops}/metrics`)).text()
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
}
