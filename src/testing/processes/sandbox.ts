import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { removeWorld } from '../world.js'
import type { DaemonProcess } from './daemonProcess.js'
import { type FileLock, tryLock } from './files.js'
import { PidFile } from './pidFile.js'

/** Resources that the parts of a world share. */
export interface Sandbox {
  readonly home: string
  readonly isKept: boolean
  readonly pids: PidFile
  readonly lock: FileLock
  readonly log: (line: string) => void
  /** Reports the end of a process; ignored for those that `destroySandbox` ends. */
  fail: (sentence: string) => void
  /** Resolves with the first report. */
  readonly failed: Promise<string>
  /** End the started parts, in any order and repeatedly. */
  readonly closers: (() => Promise<void>)[]
  daemon: DaemonProcess | undefined
}

/** Takes the home folder for this process. @throws Error when another world runs there */
export function createSandbox(home: string | undefined, log: Sandbox['log']): Sandbox {
  const folder = home === undefined ? fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-world-')) : path.resolve(home)
  fs.mkdirSync(folder, { recursive: true })
  const result = tryLock(path.join(folder, 'launcher.lock'))
  if ('heldBy' in result) {
    throw new Error(
      `A world already runs in ${folder} (process ${result.heldBy}): stop it, or set CLUSTERD_HOME to another folder.`,
    )
  }
  let fail: Sandbox['fail'] = () => {}
  const failed = new Promise<string>((resolve) => {
    fail = resolve
  })
  return {
    ...{ home: folder, isKept: home !== undefined, pids: new PidFile(folder), lock: result.lock },
    ...{ log, fail, failed, closers: [], daemon: undefined },
  }
}

/** Ends every process of the world and releases the folder. */
export async function destroySandbox(sandbox: Sandbox): Promise<void> {
  sandbox.fail = () => {}
  removeWorld(sandbox.home)
  await sandbox.daemon?.kill('SIGTERM')
  await Promise.all(sandbox.closers.map((close) => close()))
  sandbox.pids.clear()
  sandbox.lock.release()
  if (!sandbox.isKept) fs.rmSync(sandbox.home, { recursive: true, force: true })
}
