import { performance } from 'node:perf_hooks'
import type { Network } from '../registry/primitives/network.js'
import { LOOP_FAILURES_ALARM, type ProblemWithAlarm, STUCK_LOOP_ALARM_MS } from './alarms.js'
import { type ErrorCause, errorCause } from './causes.js'
import { InternalErrorCounter, type ProcessPart } from './internalErrors.js'
import { errorSentence } from './logger/errors.js'
import { createLoopWaker } from './waiting.js'

/** Health of one worker loop. */
export interface LoopState extends ProcessPart {
  /** Time since the loop's last iteration or sign of life, ms. */
  ageMs: number
  /** Number of failed iterations in a row. */
  failures: number
  lastError: string | null
  /** Part of the installation that the last error points to. Null while the loop succeeds. */
  cause: ErrorCause | null
}

/** Names of the alarms for errors of the database and of the clock. */
const ALARM_BY_CAUSE = { database: 'ClusterdDatabaseAway', clock: 'ClusterdClockOff' } as const

/** Reports a loop's iterations, failures and end to `WorkerLoops`. It does not run the loop. */
export type LoopReporter = ReturnType<WorkerLoops['register']>

/** The worker loops of this process, with their health. Ages are measured by the monotonic clock. */
export class WorkerLoops {
  /** Counts of errors of our own code, in these loops and elsewhere. */
  readonly internalErrors: InternalErrorCounter
  /** Wakes the loop that logs alarms, so that the alarm of a database that lost commits is logged immediately. */
  readonly lostCommitsWaker = createLoopWaker()
  readonly #nowMs: () => number
  /** Running loops, each with a function that reads the alarms of its worker. */
  readonly #running = new Map<
    Omit<LoopState, 'ageMs'> & { turnedMs: number },
    () => readonly ProblemWithAlarm[]
  >()
  readonly #lostCommits = new Set<Network>()

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.internalErrors = new InternalErrorCounter(nowMs)
  }

  /** Raises the alarm for a database that lost commits. The alarm lasts until the process ends. */
  reportLostCommits(network: Network): void {
    this.#lostCommits.add(network)
    this.lostCommitsWaker.notify()
  }

  /** Alarms that no other state shows: of running workers, and of databases that lost commits. */
  alarms(): ProblemWithAlarm[] {
    const lost = [...this.#lostCommits].map((network): ProblemWithAlarm => {
      const text = `the database of ${network} went back in time`
      return { alarm: 'ClusterdWentBack', text, network }
    })
    return [...lost, ...[...this.#running.values()].flatMap((read) => read())]
  }

  /**
   * Adds a loop to the running ones.
   * @param alarms function that reads the alarms of the loop's worker
   * @returns functions by which the loop reports its iterations and its end
   */
  register(name: ProcessPart, alarms: () => readonly ProblemWithAlarm[] = () => []) {
    const loop = {
      ...name,
      turnedMs: this.#nowMs(),
      failures: 0,
      lastError: null as string | null,
      cause: null as ErrorCause | null,
    }
    this.#running.set(loop, alarms)
    const turned = (): void => {
      loop.turnedMs = this.#nowMs()
    }
    return {
      /** Called at each iteration, and as a sign of life within a long iteration. */
      turned,
      succeeded: () => {
        turned()
        Object.assign(loop, { failures: 0, lastError: null, cause: null })
      },
      failed: (error: Error) => {
        turned()
        const failures = loop.failures + 1
        Object.assign(loop, { failures, lastError: errorSentence(error), cause: errorCause(error) })
      },
      end: () => this.#running.delete(loop),
    }
  }

  states(): LoopState[] {
    const nowMs = this.#nowMs()
    return [...this.#running.keys()].map(({ turnedMs, ...loop }) => ({
      ...loop,
      ageMs: nowMs - turnedMs,
    }))
  }
}

/** Problems of the database and of the clock that made loops fail. A problem of several loops is listed once. */
export function databaseAndClockProblems(loops: readonly LoopState[]): ProblemWithAlarm[] {
  const problems = new Map<string, ProblemWithAlarm>()
  for (const { cause, lastError } of loops)
    if (lastError !== null && (cause === 'database' || cause === 'clock'))
      problems.set(`${cause} ${lastError.replace(/\d+ ms/, '')}`, {
        alarm: ALARM_BY_CAUSE[cause],
        text: lastError,
      })
  return [...problems.values()]
}

/**
 * Alarms of loops that hang, or fail again and again. Failures of a loop are not listed where the database, the clock
 * causes them, or while the loop's own chain has a problem. A loop that hangs is always listed.
 */
export function loopProblems(
  loops: readonly LoopState[],
  others: readonly ProblemWithAlarm[],
): ProblemWithAlarm[] {
  const isExplained = ({ network, chain, cause }: LoopState) =>
    cause === 'database' ||
    cause === 'clock' ||
    (chain !== undefined &&
      others.some((other) => other.network === network && other.chain === chain))
  return loops.flatMap((loop) => {
    const problem = loopProblem(loop)
    return problem && (problem.alarm === 'ClusterdLoopHangs' || !isExplained(loop)) ? problem : []
  })
}

function loopProblem(loop: LoopState): ProblemWithAlarm | null {
  const { name, network, chain, ageMs, failures, lastError } = loop
  const where = [name, network, chain].filter(Boolean).join(', ')
  const labels = { network, chain, subject: name }
  if (ageMs > STUCK_LOOP_ALARM_MS)
    return {
      alarm: 'ClusterdLoopHangs',
      text: `the loop ${where} has not turned for ${Math.round(ageMs / 1_000)} s`,
      ...labels,
    }
  if (failures > LOOP_FAILURES_ALARM)
    return {
      alarm: 'ClusterdLoopFails',
      text: `the loop ${where} has failed ${failures} times in a row, the last time by: ${lastError}`,
      ...labels,
    }
  return null
}
