import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { identifyProcess, sleep } from './processes.js'

const LOCK_POLL_MS = 20

/** Writes a file atomically: a reader finds the old or the new content, even after a crash. */
export function writeAtomically(file: string, content: string | Buffer, mode = 0o644): void {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const temporary = `${file}.${process.pid}.tmp`
  fs.writeFileSync(temporary, content, { mode })
  fs.renameSync(temporary, file)
}

/** A lock of this process on a file. The lock of a process that has died, even by kill -9, is no longer valid. */
export interface FileLock {
  release(): void
}

/** Tries once to lock a file. @returns the lock, or the holder's pid when a live process has the lock */
export function tryLockFile(file: string): { lock: FileLock } | { heldBy: number } {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const own = `${process.pid} ${identifyProcess(process.pid)?.startedAt} ${randomUUID()}`
  const mine = `${file}.${randomUUID()}`
  fs.writeFileSync(mine, own)
  try {
    for (;;) {
      // link() atomically creates the lock file with its content, or fails because the file exists
      if (linked(mine, file)) return { lock: { release: () => releaseOwn(file, own) } }
      const holder = readOrUndefined(file)
      if (holder === undefined) continue
      if (isLiveHolder(holder)) return { heldBy: Number(holder.split(' ')[0]) }
      takeAway(file, holder)
    }
  } finally {
    fs.rmSync(mine, { force: true })
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

function linked(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function isLiveHolder(content: string): boolean {
  const [pid, startedAt] = content.split(' ')
  const identity = identifyProcess(Number(pid))
  return identity !== undefined && identity.startedAt === startedAt
}

/**
 * Removes a dead holder's lock. After the rename, the content shows whether another process has taken the lock
 * meanwhile. If so, the file is put back.
 */
function takeAway(file: string, expected: string): void {
  const aside = `${file}.stale.${randomUUID()}`
  try {
    fs.renameSync(file, aside)
  } catch (error) {
    // another user's file in a shared folder can't be renamed
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return // removed by another process
  }
  if (readOrUndefined(aside) !== expected) linked(aside, file)
  fs.rmSync(aside, { force: true })
}

function releaseOwn(file: string, own: string): void {
  if (readOrUndefined(file) === own) fs.rmSync(file, { force: true })
}

function readOrUndefined(file: string): string | undefined {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
