import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** How a program of this package is started by Node. */
export interface ProgramCommand {
  command: string
  args: string[]
  /** Part of its command line that tells it from other processes. */
  marker: string
}

/** Path of a built program, by its path in `src` without extension. */
type Locate = (program: string) => Promise<string>

let locate: Locate | undefined

/** From now on this process starts programs as they have been built, not from their sources: much sooner. */
export function startProgramsFrom(built: Locate): void {
  locate = built
}

/** How a program is run: its source through tsx in a checkout, else what was built from it. @param program `cli`, … */
export async function programCommand(program: string): Promise<ProgramCommand> {
  const isSource = import.meta.url.endsWith('.ts')
  const own = fileURLToPath(new URL(`../../${program}.${isSource ? 'ts' : 'js'}`, import.meta.url))
  const file = locate ? await locate(program) : own
  const loader = file.endsWith('.ts')
    ? ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href]
    : []
  return { command: process.execPath, args: [...loader, file], marker: path.basename(file) }
}
