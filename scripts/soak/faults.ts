import { setTimeout as sleep } from 'node:timers/promises'
import { withConnection } from '../../src/db/pg/pool.js'
import type { SoakWorld } from './world.js'

/** Time after the end of a fault in which look-ups may still fail. */
const RECOVERY_MS = 10_000
const FAULT_MS = 20_000
/** Delay of faults after each full interval, since samples are taken at full minutes. */
const PHASE_MS = 5_000
/** Pause between two cuts of all connections. */
const CUT_EVERY_MS = 1_000

/** A fault: `run` causes it, waits, and repairs it before its promise resolves. */
interface Fault {
  name: string
  run(world: SoakWorld): Promise<void>
}

const rpcErrors: Fault = {
  name: 'RPC errors',
  async run({ proxies }) {
    const faults = { server_error: 0.4, drop: 0.2, rate_limit: 0.2, delay: 0.1 }
    for (const proxy of proxies) proxy.set(faults)
    await sleep(FAULT_MS)
    for (const proxy of proxies) proxy.set({})
  },
}

const rpcSilence: Fault = {
  name: 'RPC silent',
  async run({ proxies }) {
    for (const proxy of proxies) proxy.silence()
    await sleep(FAULT_MS)
    for (const proxy of proxies) proxy.restore()
  },
}

/** Ends all connections to the database but the connection that does this, again and again. */
const databaseCuts: Fault = {
  name: 'connections to PostgreSQL cut',
  async run({ stack }) {
    await withConnection({ url: stack.databaseUrl, applicationName: 'test' }, async (client) => {
      for (let passedMs = 0; passedMs < FAULT_MS; passedMs += CUT_EVERY_MS) {
        await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`)
        await sleep(CUT_EVERY_MS)
      }
    })
  },
}

const databaseKill: Fault = {
  name: 'PostgreSQL killed',
  async run({ stack }) {
    await stack.postgres!.kill()
    await sleep(FAULT_MS)
    await stack.postgres!.restart()
  },
}

const poolerStop: Fault = {
  name: 'pooler stopped',
  async run({ pooler }) {
    await pooler!.stop()
    await sleep(FAULT_MS)
    await pooler!.start()
  },
}

const clockAhead: Fault = {
  name: 'clock a year ahead',
  async run({ turnClock }) {
    turnClock()
    await sleep(FAULT_MS)
    turnClock()
  },
}

/** Faults in the order in which they are run: of the RPC, PostgreSQL, the pooler and the clock. */
const FAULTS = [
  rpcErrors,
  databaseKill,
  poolerStop,
  clockAhead,
  rpcSilence,
  databaseCuts,
  poolerStop,
  clockAhead,
]

interface FaultWindows {
  /** True if a period, by performance.now(), overlaps with a fault or with the time shortly after a fault. */
  touches(fromMs: number, untilMs: number): boolean
  /** Settles after the signal, once a fault that was under way has ended. */
  done: Promise<void>
}

/** Runs a fault at each interval. The first fault is after one interval, and the last fault ends within the run. */
export function startFaults(
  world: SoakWorld,
  { everyMs, runMs }: { everyMs: number; runMs: number },
  signal: AbortSignal,
  log: (line: string) => void,
): FaultWindows {
  const faults = FAULTS.filter((fault) => world.pooler || fault !== poolerStop)
  const startedMs = performance.now()
  let current: { fromMs: number; untilMs: number } | undefined

  const run = async (): Promise<void> => {
    for (let turn = 0; ; turn++) {
      const atMs = (turn + 1) * everyMs + PHASE_MS
      const waitMs = Math.max(0, startedMs + atMs - performance.now())
      if (atMs + FAULT_MS + RECOVERY_MS > runMs) return
      await sleep(waitMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      const { name, run: wreak } = faults[turn % faults.length]!
      const fromMs = performance.now()
      current = { fromMs, untilMs: Number.POSITIVE_INFINITY }
      log(`fault: ${name}`)
      await wreak(world)
      const endedMs = performance.now()
      current = { fromMs, untilMs: endedMs + RECOVERY_MS }
      log(`over after ${((endedMs - fromMs) / 1_000).toFixed(0)} s: ${name}`)
    }
  }

  return {
    touches: (fromMs, untilMs) =>
      current !== undefined && fromMs <= current.untilMs && untilMs >= current.fromMs,
    done: run(),
  }
}
