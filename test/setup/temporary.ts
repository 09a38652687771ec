import { mkdirSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ROOM_BYTES = 4 * 2 ** 30
/** Age at which the leftovers of a killed run are removed. */
const LEFT_MS = 6 * 3_600_000

/**
 * Folder of the tests' files: in memory where there is room for all of them, since making and removing a database's
 * files takes a disk longer than most tests take; else the system's folder. The same for all runs at one time: they
 * tell each other there which ports are taken.
 */
export function temporaryFolder(): string {
  const folder = join(MEMORY, 'clusterd-tests')
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    if (bavail * bsize < ROOM_BYTES) return tmpdir()
    mkdirSync(folder, { recursive: true })
  } catch {
    return tmpdir()
  }
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const { mtimeMs = Date.now() } = statSync(path, { throwIfNoEntry: false }) ?? {}
    if (Date.now() - mtimeMs > LEFT_MS) rmSync(path, { recursive: true, force: true })
  }
  return folder
}
