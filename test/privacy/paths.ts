/** Parameters that take the values of another. */
const AS: Readonly<Record<string, string>> = {
  cluster: 'name',
  clusterName: 'name',
  community: 'name',
  communityName: 'name',
  clusterId: 'id',
  addressName: 'walletName',
}

/** Paths of a route with values for its parameters, all combinations. */
export function pathsOf(
  pattern: string,
  given: Readonly<Record<string, readonly string[]>>,
): string[] {
  let paths = [pattern.replace(/\.svg$/, '')]
  for (const [, name] of pattern.matchAll(/:(\w+)/g)) {
    const values = given[AS[name!] ?? name!]
    if (!values) throw new Error(`${pattern}: say what :${name} may be`)
    paths = paths.flatMap((path) =>
      values.map((value) => path.replace(`:${name}`, encodeURIComponent(value))),
    )
  }
  return paths
}
