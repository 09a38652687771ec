import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identifyProcess } from './processes.js'

const LOCK_POLL_MS = 20

/**
 * Text that identifies a running process: its id and start time. Once the process has ended, `undefined` takes the
 * place of the start time. Outside Linux the start time is empty, so that a later process with the same id has the same
 * text.
 */
export const processIdAndStart = (pid: number): string =>
  `${pid} ${identifyProcess(pid)?.startedAt}`

/**
 * A lock file of this process, removed by `release`. The next process that locks replaces the file of a dead process.
 * Outside Linux, it does not while another process has the dead process's pid.
 */
export interface FileLock {
  release(): void
}

/** Tries once to lock a file. @returns the lock, or the holder's pid when a live process has the lock */
export function tryLockFile(file: string): { lock: FileLock } | { heldBy: number } {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const ownFile = `${file}.${randomUUID()}`
  fs.writeFileSync(ownFile, processIdAndStart(process.pid))
  try {
    // link() creates the lock file with its content, or fails because the file exists
    while (!tryLink(ownFile, file)) {
      const holder = readFileOrUndefined(file)
      if (holder === undefined) continue
      const pid = Number.parseInt(holder, 10)
      if (holder === processIdAndStart(pid)) return { heldBy: pid }
      fs.rmSync(file, { force: true })
    }
    return { lock: { release: () => fs.rmSync(file, { force: true }) } }
  } finally {
    fs.rmSync(ownFile)
  }
}

/** Waits until it can lock a file. @throws Error when a live process still holds the lock after `deadlineMs` */
export async function lockFile(file: string, deadlineMs: number): Promise<FileLock> {
  const end = performance.now() + deadlineMs
  for (;;) {
    const result = tryLockFile(file)
    if ('lock' in result) return result.lock
    if (performance.now() > end)
      throw new Error(`waiting for ${file}: process ${result.heldBy} holds it`)
    await sleep(LOCK_POLL_MS)
  }
}

/** Makes the hard link `to` of the file `from`. @returns false if `to` exists */
function tryLink(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Content of a file. Undefined where the file can't be read. */
export function readFileOrUndefined(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
