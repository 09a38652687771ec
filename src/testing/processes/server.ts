import { isPortFree } from './ports.js'
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
/** Number of the newest log lines that an error includes. */
const MAX_ERROR_LOG_LINES = 10

/** A program that listens on a port, and ends gracefully after SIGINT. */
export interface ServerProgram extends SpawnOptions {
  /** Name for error messages. */
  name: string
  port: number
  isReady(child: WatchedChild): boolean
}

/** Starts a server and waits until it is ready. @throws Error with one line that names the cause */
export async function startServerProgram(program: ServerProgram): Promise<ProcessHandle> {
  const { name, port, isReady, ...options } = program
  if (!(await isPortFree(port))) throw new Error(`starting ${name}: port ${port} is taken`)
  const child = await spawnChild({ ...options, exitSignal: 'SIGINT' })
  const isOver = () => child.hasExited() || isReady(child)
  if ((await waitForCondition(isOver, READY_DEADLINE_MS)) && !child.hasExited())
    return createProcessHandle(child, 'SIGINT', STOP_GRACE_MS)
  await child.end('SIGINT', STOP_GRACE_MS)
  const lines = child.logTail().trim().split('\n').slice(-MAX_ERROR_LOG_LINES).join(' | ')
  throw new Error(`starting ${name}: ${lines || 'no answer'}`)
}
