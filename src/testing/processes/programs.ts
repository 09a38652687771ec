import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

type LocateProgram = (program: string) => Promise<string>

let locateBuiltProgram: LocateProgram | undefined

/**
 * Makes this project's programs start from the built files that `locateProgram` returns, which is much faster than from
 * their sources.
 */
export function useBuiltPrograms(locateProgram: LocateProgram): void {
  locateBuiltProgram = locateProgram
}

/**
 * Command that runs a program of this project, such as `cli`: from the file that `useBuiltPrograms` has set. By default
 * it runs the source through tsx in a checkout, and else the built file of this package.
 */
export async function programCommand(program: string) {
  const isSource = import.meta.url.endsWith('.ts')
  const ownFile = fileURLToPath(
    new URL(`../../${program}.${isSource ? 'ts' : 'js'}`, import.meta.url),
  )
  const file = locateBuiltProgram ? await locateBuiltProgram(program) : ownFile
  const loader = file.endsWith('.ts')
    ? ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href]
    : []
  return { command: process.execPath, args: [...loader, file] }
}
