import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { removeWorld } from '../world.js'
import type { DaemonProcess } from './daemonProcess.js'
import { type FileLock, tryLock } from './files.js'
import { PidFile } from './pidFile.js'

/** What parts of a start share. */
export interface Ground {
  readonly home: string
  readonly isKept: boolean
  readonly pids: PidFile
  readonly lock: FileLock
  readonly log: (line: string) => void
  /** Tells that a process has ended; nobody is told of those that `clearGround` ends. */
  fail: (sentence: string) => void
  /** Ends what has been started so far, in any order and repeatedly. */
  readonly closers: (() => Promise<void>)[]
  daemon: DaemonProcess | undefined
}

/** Takes the home folder, for this process alone. @throws when another world runs there */
export function layGround(home: string | undefined, log: Ground['log'], fail: Ground['fail']): Ground {
  const folder = home === undefined ? fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-world-')) : path.resolve(home)
  fs.mkdirSync(folder, { recursive: true })
  const result = tryLock(path.join(folder, 'launcher.lock'))
  if ('heldBy' in result) {
    throw new Error(
      `A world already runs in ${folder} (process ${result.heldBy}): stop it, or set CLUSTERD_HOME to another folder.`,
    )
  }
  const pids = new PidFile(folder)
  return {
    home: folder,
    isKept: home !== undefined,
    pids,
    lock: result.lock,
    log,
    fail,
    closers: [],
    daemon: undefined,
  }
}

/** Ends every process of the world and gives the folder back. */
export async function clearGround(ground: Ground): Promise<void> {
  ground.fail = () => {}
  removeWorld(ground.home)
  await ground.daemon?.kill('SIGTERM')
  await Promise.all(ground.closers.map((close) => close()))
  ground.pids.clear()
  ground.lock.release()
  if (!ground.isKept) fs.rmSync(ground.home, { recursive: true, force: true })
}
