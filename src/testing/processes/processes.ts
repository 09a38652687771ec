import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const POLL_MS = 10
const TAIL_BYTES = 4_096

/** Identity of a process: ids are reused, start time and command line are not. */
export interface ProcessIdentity {
  /** Opaque, stable while the process lives (Linux: clock ticks since boot); null where the system doesn't tell. */
  startedAt: string | null
  commandLine: string
  parentPid: number
}

/** Identifies a running process; undefined when gone or a zombie. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  if (!Number.isInteger(pid) || pid <= 1) return undefined
  return process.platform === 'linux' ? identifyByProc(pid) : identifyByPs(pid)
}

function identifyByProc(pid: number): ProcessIdentity | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    // the second field is the name in parentheses and may hold spaces: split after it
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    const commandLine = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { startedAt: fields[19] ?? null, commandLine, parentPid: Number(fields[1]) }
  } catch {
    return undefined
  }
}

function identifyByPs(pid: number): ProcessIdentity | undefined {
  try {
    const columns = 'lstart=,ppid=,stat=,command='
    const out = execFileSync('ps', ['-o', columns, '-p', String(pid)], { encoding: 'utf8' }).trim()
    const match = /^(\w+ +\w+ +\d+ +[\d:]+ +\d+) +(\d+) +(\S+) +(.*)$/s.exec(out)
    if (!match || match[3]?.startsWith('Z')) return undefined
    return { startedAt: match[1] ?? null, commandLine: match[4] ?? '', parentPid: Number(match[2]) }
  } catch {
    return undefined
  }
}

/** Whether `pid` is a live process. */
export const isAlive = (pid: number): boolean => identifyProcess(pid) !== undefined

export interface SpawnOptions {
  command: string
  args: string[]
  /** File that stdout and stderr are appended to. A pipe would kill the child by EPIPE after its launcher. */
  logFile: string
  env?: NodeJS.ProcessEnv
  cwd?: string
  uid?: number
  gid?: number
  /** Whether to open an IPC channel to a Node child, which can send messages and sees its launcher end. */
  ipc?: boolean
  /** Signal to the child when this process ends first; default SIGKILL. */
  exitSignal?: NodeJS.Signals
}

export interface Child {
  readonly pid: number
  readonly process: ChildProcess
  readonly logFile: string
  /** Settles when the child has ended, in whatever way; never rejects. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  hasExited(): boolean
  /** Sends a signal; ignored for a child that is gone. */
  kill(signal: NodeJS.Signals): void
  /** Sends `signal`, waits `graceMs`, then SIGKILL; resolves when the child is gone. */
  end(signal: NodeJS.Signals, graceMs: number): Promise<void>
  /** Output of the child since its start, at most the last 4 KiB. */
  logTail(): string
}

/** Handle of a child, as given out by the parts of a world. */
export interface ProcessHandle {
  readonly pid: number
  /** Ends the process orderly. */
  stop(): Promise<void>
  /** SIGKILL, as a power cut would; resolves when the process is gone. */
  kill(): Promise<void>
  hasExited(): boolean
  /** Settles when the process has ended, in whatever way. */
  readonly exited: Promise<void>
}

/**
 * @param stopSignal ends the child orderly
 * @param end ends the child by a signal, and cleans up
 */
export function handleOf(
  child: Child,
  stopSignal: NodeJS.Signals,
  end: (signal: NodeJS.Signals) => Promise<void>,
): ProcessHandle {
  return {
    pid: child.pid,
    stop: () => end(stopSignal),
    kill: () => end('SIGKILL'),
    hasExited: () => child.hasExited(),
    exited: child.exited.then(() => {}),
  }
}

/** Children that must not outlive this process, each with its exit signal. */
const atExit = new Map<Child, NodeJS.Signals>()
let exitHooksInstalled = false
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Starts a program in its own process group, with its output in a log file. A Ctrl-C in the terminal reaches the
 * launcher only, which ends its children in order. When this process ends, running children get `exitSignal`; only a
 * kill -9 of this process leaves them behind.
 * @throws Error when the program can't be started (missing, not executable)
 */
export async function spawnChild(options: SpawnOptions): Promise<Child> {
  const { command, args, logFile, ipc, exitSignal = 'SIGKILL', ...rest } = options
  fs.mkdirSync(path.dirname(logFile), { recursive: true })
  const log = fs.openSync(logFile, 'a')
  const logStart = fs.fstatSync(log).size
  const stdio = ipc ? (['ignore', log, log, 'ipc'] as const) : (['ignore', log, log] as const)
  const child = spawn(command, args, { ...rest, stdio: [...stdio], detached: true })
  fs.closeSync(log)
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error) => reject(new Error(`starting ${command}: ${error.message}`)))
  })
  const handle = watchChild(child, logFile, logStart)
  if (!handle.hasExited()) signalAtExit(handle, exitSignal)
  return handle
}

function watchChild(child: ChildProcess, logFile: string, logStart: number): Child {
  const pid = child.pid as number
  let ended = child.exitCode !== null || child.signalCode !== null
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    if (ended) resolve({ code: child.exitCode, signal: child.signalCode })
    child.once('exit', (code, signal) => {
      ended = true
      atExit.delete(handle)
      resolve({ code, signal })
    })
  })
  const handle: Child = {
    pid,
    process: child,
    logFile,
    exited,
    hasExited: () => ended,
    kill(signal) {
      if (!ended) child.kill(signal)
    },
    async end(signal, graceMs) {
      handle.kill(signal)
      const timer = setTimeout(() => handle.kill('SIGKILL'), graceMs)
      await exited
      clearTimeout(timer)
    },
    logTail: () => readTail(logFile, logStart),
  }
  return handle
}

function signalAtExit(child: Child, signal: NodeJS.Signals): void {
  atExit.set(child, signal)
  if (exitHooksInstalled) return
  exitHooksInstalled = true
  process.on('exit', endLeftChildren)
  for (const name of ENDING_SIGNALS) process.on(name, () => endUnlessHandled(name))
}

function endLeftChildren(): void {
  for (const [child, signal] of atExit) child.kill(signal)
}

/** Ends every running child: `exitSignal`, then SIGKILL after `graceMs`. */
export async function endChildren(graceMs: number): Promise<void> {
  await Promise.all([...atExit].map(([child, signal]) => child.end(signal, graceMs)))
}

/**
 * Ends this process by a signal that nobody else handles. A signal with a listener doesn't end Node, so the last
 * listener removes itself and sends the signal again; an application's listener decides for itself.
 */
function endUnlessHandled(name: NodeJS.Signals): void {
  if (process.listenerCount(name) > 1) return
  endLeftChildren()
  process.removeAllListeners(name)
  process.kill(process.pid, name)
}

function readTail(file: string, from: number): string {
  const fd = fs.openSync(file, 'r')
  try {
    const size = fs.fstatSync(fd).size
    const start = Math.max(from, size - TAIL_BYTES)
    const buffer = Buffer.alloc(Math.max(0, size - start))
    fs.readSync(fd, buffer, 0, buffer.length, start)
    return buffer.toString('utf8')
  } finally {
    fs.closeSync(fd)
  }
}

/**
 * Ends a process that isn't a child: `signal`, then SIGKILL after `graceMs`; resolves when gone.
 * @throws Error when it lives 5 s after SIGKILL, or may not be signalled
 */
export async function endProcess(pid: number, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  const identity = identifyProcess(pid)
  if (!identity) return
  const stillThere = () => identifyProcess(pid)?.startedAt === identity.startedAt && isAlive(pid)
  for (const [what, waitMs] of [
    [signal, graceMs],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!sendSignal(pid, what)) return
    if (await waitFor(() => !stillThere(), waitMs)) return
  }
  throw new Error(`ending process ${pid}: it still runs after SIGKILL`)
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw new Error(`ending process ${pid}: ${(error as Error).message}`)
  }
}

/** Polls `condition` for up to `deadlineMs`. @returns whether it held */
export async function waitFor(
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

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
