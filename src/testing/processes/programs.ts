import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

type Locate = (program: string) => Promise<string>

let locate: Locate | undefined

/**
 * Makes this project's programs start from the files that `built` returns, instead of their sources, which is much
 * faster.
 */
export function useBuiltPrograms(built: Locate): void {
  locate = built
}

/**
 * Command that runs a program of this project (`cli`, …): its source through tsx in a checkout, otherwise its build.
 */
export async function programCommand(program: string) {
  const isSource = import.meta.url.endsWith('.ts')
  const ownFile = fileURLToPath(
    new URL(`../../${program}.${isSource ? 'ts' : 'js'}`, import.meta.url),
  )
  const file = locate ? await locate(program) : ownFile
  const loader = file.endsWith('.ts')
    ? ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href]
    : []
  return { command: process.execPath, args: [...loader, file] }
}
