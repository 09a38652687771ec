import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import type { Socket } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 25
const LOG_TAIL_BYTES = 4_096

/** Identity of a process. The process id is not enough, because the system reuses ids. */
interface ProcessIdentity {
  /** Start time, clock ticks since boot. Empty where the system has no /proc. */
  startedAt: string
  commandLine: string
  parentPid: number
}

/** Identity of a running process. Undefined if it has ended or, on Linux, is a zombie. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  if (!Number.isInteger(pid) || pid <= 1) return undefined
  if (process.platform !== 'linux')
    return doesProcessExist(pid) ? { startedAt: '', commandLine: '', parentPid: 0 } : undefined
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    // the second field is the name in parentheses and may hold spaces, so split after it
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    const commandLine = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { startedAt: fields[19] ?? '', commandLine, parentPid: Number(fields[1]) }
  } catch {
    return undefined
  }
}

/** True if the process with this id exists. Also true for a zombie process, which has ended but was not reaped. */
export function doesProcessExist(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** True if `pid` is a live process. False for a zombie on Linux; elsewhere a zombie counts as alive. */
export const isProcessAlive = (pid: number): boolean => identifyProcess(pid) !== undefined

export interface SpawnOptions {
  command: string
  args: string[]
  /** File to which stdout and stderr are appended. A pipe would end the child by EPIPE once its launcher has ended. */
  logFile: string
  env?: NodeJS.ProcessEnv
  cwd?: string
  uid?: number
  gid?: number
  /** Opens an IPC channel to a Node child, which can send messages and notices the end of its launcher. */
  ipc?: boolean
  /** Signal that the child gets when this process ends before it. Default SIGKILL. */
  exitSignal?: NodeJS.Signals
}

/** A child process of this process. */
export type WatchedChild = Awaited<ReturnType<typeof spawnChild>>

/** Handle of a child process of a local world. */
export interface ProcessHandle {
  readonly pid: number
  /** Ends the process gracefully. */
  stop(): Promise<void>
  /** Sends SIGKILL, so that the process can't finish its work. Resolves when the process is gone. */
  kill(): Promise<void>
  hasExited(): boolean
  /** Resolves when the process has ended, in any way. */
  readonly exited: Promise<void>
}

/**
 * Creates the handle of a child process.
 * @param stopSignal signal that ends the child gracefully. SIGKILL follows after `graceMs`.
 */
export function createProcessHandle(
  child: WatchedChild,
  stopSignal: NodeJS.Signals,
  graceMs: number,
): ProcessHandle {
  return {
    pid: child.pid,
    stop: () => child.end(stopSignal, graceMs),
    kill: () => child.end('SIGKILL', graceMs),
    hasExited: () => child.hasExited(),
    exited: child.exited.then(() => {}),
  }
}

/**
 * Shell script of the guard, a process that outlives this one. Each line of its input lists the running children, as
 * `pid:signal`. When the input ends, because this process has ended, each child gets its signal, and SIGKILL 5 s later.
 */
const GUARD_SCRIPT = `
list=
while read -r line; do list=$line; done
for one in $list; do kill -s "\${one#*:}" "\${one%:*}"; done
for turn in $(seq 50); do
  left=
  for one in $list; do kill -0 "\${one%:*}" && left=$one; done
  [ "$left" ] || exit
  sleep 0.1
done
for one in $list; do kill -9 "\${one%:*}"; done
`

let guardProcess: ChildProcess | undefined
/** Running children by process id, each with the signal that the guard sends to it. */
const guardSignalByPid = new Map<number, NodeJS.Signals>()

/**
 * Starts the guard, which ends this process's children when this process has ended. A running guard is reused.
 * @returns the guard's process id
 */
export function startChildGuard(): number {
  if (!guardProcess) {
    guardProcess = spawn('sh', ['-c', GUARD_SCRIPT], {
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
      detached: true,
    })
    guardProcess.unref()
    guardProcess.stdin?.on('error', () => {})
    ;(guardProcess.stdin as Socket).unref()
  }
  return guardProcess.pid as number
}

/** Sends the guard the list of the running children, and starts the guard where none runs. */
function sendChildrenToGuard(): void {
  startChildGuard()
  const list = [...guardSignalByPid].map(([pid, signal]) => `${pid}:${signal.slice('SIG'.length)}`)
  guardProcess?.stdin?.write(`${list.join(' ')}\n`)
}

/**
 * Starts a program as a child process, with its output in a log file. The child has its own process group, so that
 * Ctrl-C in the terminal reaches only this process, which ends its children in order. When this process ends, a guard
 * process ends the remaining children by their `exitSignal`.
 * @throws Error when the program can't be started (missing, not executable)
 */
export async function spawnChild(options: SpawnOptions) {
  const { command, args, logFile, ipc, exitSignal = 'SIGKILL', ...rest } = options
  fs.mkdirSync(path.dirname(logFile), { recursive: true })
  const log = fs.openSync(logFile, 'a')
  const logStart = fs.fstatSync(log).size
  const stdio = ipc ? (['ignore', log, log, 'ipc'] as const) : (['ignore', log, log] as const)
  const child = spawn(command, args, { ...rest, stdio: [...stdio], detached: true })
  fs.closeSync(log)
  try {
    await once(child, 'spawn')
  } catch (error) {
    throw new Error(`starting ${command}: ${(error as Error).message}`)
  }
  const pid = child.pid as number
  guardSignalByPid.set(pid, exitSignal)
  sendChildrenToGuard()
  let hasExited = false
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => {
      hasExited = true
      guardSignalByPid.delete(pid)
      sendChildrenToGuard()
      resolve({ code, signal })
    })
  })
  return {
    pid,
    process: child,
    logFile,
    /** Resolves when the child has ended, in any way. Never rejects. */
    exited,
    hasExited: () => hasExited,
    /** Sends `signal`, waits `graceMs`, then sends SIGKILL. Resolves when the child is gone. */
    async end(signal: NodeJS.Signals, graceMs: number): Promise<void> {
      child.kill(signal)
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
      await exited
      clearTimeout(timer)
    },
    /** Output of the child since its start, at most the last 4 KiB. */
    logTail(): string {
      const output = fs.readFileSync(logFile).subarray(logStart)
      return output.subarray(-LOG_TAIL_BYTES).toString('utf8')
    },
  }
}

/** Polls a condition. @returns false if it did not become true within `deadlineMs` */
export async function waitForCondition(
  condition: () => boolean | Promise<boolean>,
  deadlineMs: number,
  pollMs = POLL_MS,
): Promise<boolean> {
  const end = performance.now() + deadlineMs
  for (;;) {
    if (await condition()) return true
    if (performance.now() >= end) return false
    await sleep(pollMs)
  }
}
