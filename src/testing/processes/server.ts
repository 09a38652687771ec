import { chooseFreePort } from './ports.js'
import {
  createProcessHandle,
  type ProcessHandle,
  type SpawnOptions,
  spawnChild,
  type WatchedChild,
  waitForCondition,
} from './processes.js'

const READY_DEADLINE_MS = 30_000
const STOP_GRACE_MS = 10_000
const PORT_TRIES = 5
/** Number of the newest log lines that an error includes. */
const LOG_LINES = 10

/** A program that listens on a port, and ends gracefully after SIGINT. */
export interface ServerProgram {
  name: string
  /** Port to listen on. Undefined: a free one. */
  port: number | undefined
  commandFor(port: number): Omit<SpawnOptions, 'exitSignal'>
  isReady(child: WatchedChild, port: number): boolean
  /** Text in the program's log when the port is taken. */
  takenText: string
}

/** Starts a server and waits until it is ready. @throws Error with one line that names the cause */
export async function startServerProgram(
  program: ServerProgram,
): Promise<ProcessHandle & { port: number }> {
  const { name, commandFor, isReady, takenText } = program
  for (let tries = 1; ; tries++) {
    const port = program.port ?? (await chooseFreePort())
    const child = await spawnChild({ ...commandFor(port), exitSignal: 'SIGINT' })
    await waitForCondition(() => child.hasExited() || isReady(child, port), READY_DEADLINE_MS)
    if (!child.hasExited() && isReady(child, port))
      return { port, ...createProcessHandle(child, 'SIGINT', STOP_GRACE_MS) }

    const log = child.logTail()
    await child.end('SIGINT', STOP_GRACE_MS)
    if (!log.includes(takenText)) {
      const lines = log.trim().split('\n').slice(-LOG_LINES).join(' | ')
      throw new Error(`starting ${name}: ${lines || 'no answer'}`)
    }
    if (program.port !== undefined || tries === PORT_TRIES)
      throw new Error(`starting ${name}: port ${port} is taken`)
  }
}
