import fs from 'node:fs'
import { spawnChild, type WatchedChild, waitForCondition } from './processes.js'
import { programCommand } from './programs.js'

const READY_DEADLINE_MS = 30_000
const READY_POLL_MS = 30
const STOP_GRACE_MS = 12_000

/**
 * Node's flags for a daemon. The first bounds the semi-spaces of the heap's young generation to 8 MiB each: half the
 * default of Node 20 and 22, an eighth of Node 24's. A daemon then takes 16 MiB less memory, and catch-ups and look-ups
 * take no more processor time. The second collects garbage only on the main thread. With helper threads, a catch-up on
 * two processors takes a tenth more processor time, and a collection waits for helpers that get no processor.
 */
export const DAEMON_NODEJS_FLAGS: readonly string[] = [
  '--max-semi-space-size=8',
  '--no-parallel-scavenge',
]

/** Environment variables of a daemon. A variable that is undefined is not set. */
export type DaemonEnvironment = Readonly<Record<string, string | undefined>>

export interface DaemonProcess {
  /** Id of the process that was started last. */
  readonly pid: number
  /** Sends a signal and waits for the process to end. */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Ends the daemon by SIGTERM, starts it again and waits until it is ready. `env` overrides the environment. */
  restart(env?: DaemonEnvironment): Promise<void>
  /** Ends the daemon by SIGKILL and starts it again, without waiting until it is ready. `env` as for `restart`. */
  spawn(env?: DaemonEnvironment): Promise<void>
  /** @throws Error with the reasons when the daemon ends, a chain is halted, or the daemon is not ready in 30 s */
  waitUntilReady(): Promise<void>
  /** Resolves when the process that was started last ends. */
  exited(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  isRunning(): boolean
  /** Whole log file, since the first start. */
  logs(): string
}

interface DaemonProcessOptions {
  /** Complete environment of the process. Nothing is inherited. */
  env: DaemonEnvironment
  /** Base address of the operator's routes. */
  opsUrl: string
  logFile: string
  /** Called when the process ends although this handle did not end it. */
  onEnd: () => void
}

/** Starts a daemon as a child process, which ends with this process. */
export async function startDaemonProcess(options: DaemonProcessOptions): Promise<DaemonProcess> {
  const { command, args } = await programCommand('cli')
  let child: WatchedChild
  let isAskedToEnd = false
  /**
   * True once the child has reported over IPC that it listens on its ports. Until then, another process may answer on
   * these ports.
   */
  let isUp = false
  const spawn = async (env: DaemonEnvironment = {}) => {
    child = await spawnChild({
      command,
      args: [...DAEMON_NODEJS_FLAGS, ...args, 'start'],
      logFile: options.logFile,
      env: { ...options.env, ...env, CLUSTERD_CHILD: 'true' },
      ipc: true, // the closed channel notifies the daemon when this process ends
      exitSignal: 'SIGTERM',
    })
    isAskedToEnd = false
    isUp = false
    child.process.once('message', () => {
      isUp = true
    })
    child.exited.then(() => {
      if (!isAskedToEnd) options.onEnd()
    })
  }
  await spawn()
  const kill = (signal: NodeJS.Signals) => {
    isAskedToEnd = true
    return child.end(signal, STOP_GRACE_MS)
  }
  const waitUntilReady = async () => {
    let problems: readonly string[] = []
    const isOver = async () => {
      if (child.hasExited()) return true
      if (!isUp) return false
      const answer = await readDaemonReadiness(options.opsUrl)
      problems = answer.problems
      return answer.ready || problems.some(isHaltedChainProblem)
    }
    const isInTime = await waitForCondition(isOver, READY_DEADLINE_MS, READY_POLL_MS)
    if (child.hasExited()) throw new Error(lastSentence(child))
    const halted = problems.find(isHaltedChainProblem)
    if (halted) throw new Error(halted)
    if (!isInTime) throw new Error(`the daemon is not ready: ${problems.join('; ') || 'no answer'}`)
  }
  return {
    get pid() {
      return child.pid
    },
    kill,
    async restart(env) {
      await kill('SIGTERM')
      await spawn(env)
      await waitUntilReady()
    },
    async spawn(env) {
      await kill('SIGKILL')
      await spawn(env)
    },
    waitUntilReady,
    exited: () => child.exited,
    isRunning: () => !child.hasExited(),
    logs: () => fs.readFileSync(options.logFile, 'utf8'),
  }
}

/** True if a problem of `/status` says that a chain is halted. No wait ends such a problem. */
export const isHaltedChainProblem = (problem: string): boolean => problem.includes(': halted: ')

/** Name of the alarm for requests that failed in the last minute. */
const PAST_FAILURES_ALARM = 'ClusterdErrors'

/**
 * Requests the daemon's `/status`. The daemon is ready if it answers and reports no problem. Requests that failed in
 * the last minute are only among `alarms`, and do not count as a problem.
 */
export async function readDaemonReadiness(
  opsUrl: string,
): Promise<{ ready: boolean; problems: string[]; alarms: string[] }> {
  try {
    const response = await fetch(`${opsUrl}/status`, { signal: AbortSignal.timeout(2_000) })
    const body = (await response.json()) as {
      problems: string[]
      alarms: { alarm: string; text: string }[]
    }
    const past = body.alarms
      .filter(({ alarm }) => alarm === PAST_FAILURES_ALARM)
      .map(({ text }) => text)
    const problems = body.problems.filter((problem) => !past.includes(problem))
    const alarms = body.alarms.map(({ alarm }) => alarm)
    return { ready: problems.length === 0, problems, alarms }
  } catch (error) {
    return { ready: false, problems: [`${opsUrl}/status: ${(error as Error).message}`], alarms: [] }
  }
}

/**
 * The child's last message that starts with "clusterd: ", without the prefix and without JSON log lines. The message
 * has one line, or a line for each fault. If the child wrote no such message: a sentence with the last line of its
 * output.
 */
function lastSentence(child: WatchedChild): string {
  const lines = child.logTail().trim().split('\n')
  const start = lines.findLastIndex((line) => line.startsWith('clusterd: '))
  const sentence = lines.slice(start).filter((line) => !line.startsWith('{'))
  if (start >= 0) return sentence.join('\n').slice('clusterd: '.length)
  return `the daemon ended at its start: ${lines.at(-1)} (see ${child.logFile})`
}
