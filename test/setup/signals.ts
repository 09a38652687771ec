import { existsSync, readFileSync } from 'node:fs'
import { writeFileAtomically } from '../../src/config/files.js'

/** Environment variable that names the file of the shared world's processes (globalSetup.ts) to every worker. */
const SHARED = 'CLUSTERD_TEST_SHARED'

/** Names the file to the workers that are started from now on; the world is on its way until it is there. */
export function expectSharedWorld(file: string): void {
  process.env[SHARED] = file
}

/** Writes what the shared world has come to: the processes, or why there are none. */
export function shareWorld(found: readonly number[] | Error): void {
  writeFileAtomically(
    process.env[SHARED]!,
    found instanceof Error ? found.message : found.join(' '),
  )
}

/** True once the shared world has started. @throws Error where it can't */
export function isWorldShared(): boolean {
  const file = process.env[SHARED]
  if (file === undefined || !existsSync(file)) return false
  const text = readFileSync(file, 'utf8')
  if (!/^[\d ]+$/.test(text)) throw new Error(`the shared world did not start: ${text}`)
  return true
}

/**
 * Sends a signal to the processes of the shared world, where there is one. Processes that have ended are passed over.
 */
export function signalSharedWorld(signal: 'SIGSTOP' | 'SIGCONT'): void {
  if (!isWorldShared()) return
  for (const pid of readFileSync(process.env[SHARED]!, 'utf8').split(' ')) {
    try {
      process.kill(Number(pid), signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
