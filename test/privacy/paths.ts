/** Parameters that take the values of another parameter. */
const AS: Readonly<Record<string, string>> = {
  cluster: 'name',
  clusterName: 'name',
  community: 'name',
  communityName: 'name',
  clusterId: 'id',
  addressName: 'walletName',
}

/** Values of parameters without private values. */
const PUBLIC: Readonly<Record<string, readonly string[]>> = {
  network: ['mainnet'],
  generation: ['1'],
  token: [`0x${'cc'.repeat(20)}`],
  tile: ['tile/entries/000.p/2', 'tile/0/000.p/2'],
}

/** Paths of a route, with all combinations of its parameters' values. */
export function pathsOf(
  pattern: string,
  given: Readonly<Record<string, readonly string[]>>,
): string[] {
  let paths = [pattern.replace(/\.(svg|png)$/, '')]
  for (const [parameter, name] of pattern.matchAll(/[:*](\w+)/g)) {
    const values = given[AS[name!] ?? name!] ?? PUBLIC[name!]
    if (!values) throw new Error(`${pattern}: say what :${name} may be`)
    paths = paths.flatMap((path) =>
      values.map((value) =>
        path.replace(parameter, parameter.startsWith('*') ? value : encodeURIComponent(value)),
      ),
    )
  }
  return paths
}
