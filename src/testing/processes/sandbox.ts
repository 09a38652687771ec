import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { writeFileAtomically } from '../../config/files.js'
import { removeWorldFiles } from '../world.js'
import type { DaemonProcess } from './daemonProcess.js'
import { processIdAndStart, readFileOrUndefined, tryLockFile } from './files.js'
import { startChildGuard, waitForCondition } from './processes.js'

const GUARD_DEADLINE_MS = 10_000

/** Resources that the parts of a local world share. */
export type Sandbox = Awaited<ReturnType<typeof createSandbox>>

/**
 * Creates or opens the home folder of a local world, and locks it.
 * @throws Error when another world runs in the folder
 */
export async function createSandbox(home: string | undefined, log: (line: string) => void) {
  const folder =
    home === undefined
      ? fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-world-'))
      : path.resolve(home)
  fs.mkdirSync(folder, { recursive: true })
  const result = tryLockFile(path.join(folder, 'launcher.lock'))
  if ('heldBy' in result) {
    throw new Error(
      `A world already runs in ${folder} (process ${result.heldBy}): stop it, or set CLUSTERD_HOME to another folder.`,
    )
  }
  await replaceGuard(path.join(folder, 'guard'), log)
  let fail: (sentence: string) => void = () => {}
  const failed = new Promise<string>((resolve) => {
    fail = resolve
  })
  return {
    home: folder,
    isKept: home !== undefined,
    lock: result.lock,
    log,
    /** Reports the unexpected end of a process. Ignored after `destroySandbox`. */
    fail,
    /** Resolves with the first sentence that was passed to `fail`. */
    failed,
    /** Functions that end the started parts. They may be called in any order and repeatedly. */
    closers: [] as (() => Promise<void>)[],
    daemon: undefined as DaemonProcess | undefined,
  }
}

/**
 * Waits, at most `GUARD_DEADLINE_MS`, until the guard of a killed launcher has ended the launcher's children. Then
 * records this process's guard in the file.
 */
async function replaceGuard(file: string, log: (line: string) => void): Promise<void> {
  const guard = processIdAndStart(startChildGuard())
  const earlier = readFileOrUndefined(file) ?? guard
  const hasEnded = () => earlier !== processIdAndStart(Number.parseInt(earlier, 10))
  if (earlier !== guard && !hasEnded()) {
    log('waiting for the end of what an earlier run has left')
    await waitForCondition(hasEnded, GUARD_DEADLINE_MS)
  }
  writeFileAtomically(file, guard)
}

/** Ends every process of the local world, unlocks its home folder, and removes the folder if it is temporary. */
export async function destroySandbox(sandbox: Sandbox): Promise<void> {
  sandbox.fail = () => {}
  removeWorldFiles(sandbox.home)
  await sandbox.daemon?.kill('SIGTERM')
  await Promise.all(sandbox.closers.map((close) => close()))
  fs.rmSync(path.join(sandbox.home, 'guard'), { force: true })
  sandbox.lock.release()
  if (!sandbox.isKept) fs.rmSync(sandbox.home, { recursive: true, force: true })
}
