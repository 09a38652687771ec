import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import {
  spawnChild,
  type WatchedChild,
  waitForCondition,
} from '../../src/testing/processes/processes.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { metricLines } from './metrics.js'

const READY_LIMIT_MS = 40_000
const STOP_GRACE_MS = 40_000

/** A process of `clusterd start` beside others of the same installation. */
export interface ClusterdProcess {
  readonly pid: number
  readonly api: string
  readonly ops: string
  /** @throws Error with the end of its log where /ready is not 200 in time */
  ready(): Promise<void>
  /** Whether /ready is 200 now. */
  isReady(): Promise<boolean>
  /** Values of a metric's lines. */
  metric(name: string): Promise<string[]>
  /** Output of all its runs. */
  log(): string
  /** Ends it; by default in order. @returns its exit code */
  end(signal?: NodeJS.Signals): Promise<number | null>
  /** Starts it again on its ports, without waiting. */
  start(): Promise<void>
}

/**
 * Starts `clusterd start` with ports of its own.
 * @param env its complete environment but for the ports
 * @param program file of another build; default: this one
 */
export async function startClusterd(
  env: Readonly<Record<string, string | undefined>>,
  {
    command: of = 'start',
    args: options = [],
    program,
  }: { command?: string; args?: readonly string[]; program?: string } = {},
): Promise<ClusterdProcess> {
  const { command, args } = program
    ? { command: process.execPath, args: [program] }
    : await programCommand('cli')
  const folder = mkdtempSync(join(tmpdir(), 'clusterd-process-'))
  const logFile = join(folder, 'log')
  const port = await chooseFreePort()
  const opsPort = await chooseFreePort()
  const ports = { PORT: String(port), OPS_PORT: String(opsPort) }
  const ops = `http://127.0.0.1:${opsPort}`
  let child: WatchedChild
  const start = async () => {
    const own = { ...env, ...ports, CLUSTERD_CHILD: 'true' }
    child = await spawnChild({
      command,
      args: [...args, of, ...options],
      logFile,
      env: own,
      ipc: true,
      exitSignal: 'SIGTERM' as const,
    })
  }
  await start()
  const log = () => readFileSync(logFile, 'utf8')
  const isReady = () =>
    fetch(`${ops}/ready`, { signal: AbortSignal.timeout(2_000) }).then(
      ({ ok }) => ok,
      () => false,
    )
  return {
    get pid() {
      return child.pid
    },
    api: `http://127.0.0.1:${port}`,
    ops,
    isReady,
    log,
    start,
    async ready() {
      const isUp = await waitForCondition(
        async () => child.hasExited() || (await isReady()),
        READY_LIMIT_MS,
      )
      if (!isUp || child.hasExited()) throw new Error(`clusterd is not ready:\n${child.logTail()}`)
    },
    metric: (name) => metricLines(ops, name),
    async end(signal = 'SIGTERM') {
      await child.end(signal, STOP_GRACE_MS)
      return (await child.exited).code
    },
  }
}
