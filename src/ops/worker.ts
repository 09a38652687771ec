import { setMaxListeners } from 'node:events'
import type { ProblemWithAlarm } from './alarms.js'
import type { ProcessPart } from './internalErrors.js'
import { isInternalError } from './logger/errors.js'
import type { Logger } from './logger/logger.js'
import { type LoopReporter, WorkerLoops } from './loops.js'
import {
  BACKOFF_PAUSES_MS,
  backoffPauseMs,
  createLoopWaker,
  type LoopWaker,
  pauseUntilSignal,
} from './waiting.js'

/** An error after which no step may follow. It ends all workers that run together. */
export class FatalError extends Error {
  override name = 'FatalError'
}

/**
 * Reason of a fired signal: the lease ended here. Another process may lead from now on, so writes of this process's
 * steps are refused.
 */
export class LeadershipEndedError extends FatalError {
  override name = 'LeadershipEndedError'
}

/** A step exceeded its time limit. A leader's later writes fail, because the next leadership has a higher epoch. */
export class StepTimeoutError extends FatalError {
  override name = 'StepTimeoutError'
}

/** Pause of an idle worker that is notified of new work, ms. Polling finds work whose notification was lost. */
export const IDLE_POLL_MS = 5_000

/** Outcome of a worker's step. `waiting`: the worker waits for a chain, or until a time. `idle`: there is no work. */
export type StepResult = 'progressed' | 'waiting' | 'idle'

/** A loop of steps. Several workers run together. */
export interface Worker {
  /** Name in log messages, after "a step of". */
  name: string
  /** Fields of the worker's log lines. */
  fields: Omit<ProcessPart, 'name'>
  /** Pause after a `waiting` step, and after more than `maxBusySteps` `progressed` steps in a row, ms. */
  readonly pollMs: number
  /** Pause after an `idle` step, if longer than `pollMs`, ms. `notify()` ends it early, a new block does not. */
  idleMs?: number
  /** Ends a pause early. */
  notify?: LoopWaker
  /** Subscribes, when the worker starts, to events that wake it. @returns function that unsubscribes */
  subscribe?(): (() => void) | undefined
  /** Maximum number of `progressed` steps in a row that the next step follows without a pause. Absent: no limit. */
  maxBusySteps?: number
  /**
   * Does the next piece of work. Pauses and time limits are up to the caller.
   * @param alive function that a long step (a catch-up) calls now and then to restart its time limit
   * @throws FatalError (a lost leadership) ends all workers; any other error is logged, and the step is tried again
   */
  step(signal: AbortSignal, alive: () => void): Promise<StepResult>
  /** Runs after each successful step. */
  check?(): void
  /** Alarms of the worker that hold now, and that no other state shows. They end when the worker ends. */
  alarms?(): readonly ProblemWithAlarm[]
  /** Runs after each failed step. */
  onFailure?(error: Error): void
}

interface WorkerContext {
  log: Logger
  signal: AbortSignal
  /** Health of the workers' loops. */
  loops?: WorkerLoops
  /** Pauses after the first, second, … failed step in a row, ms. The last pause is repeated. */
  errorPausesMs?: readonly number[]
  limits?: StepLimits
}

/** Time limits of a step, ms. */
interface StepLimits {
  /** Time limit of a step, counted from its start or its last call of `alive`. */
  stepMs: number
  /** Limit for a running step to end after the signal has fired. */
  endMs: number
  /**
   * Limit for a running step to end after a FatalError: a process that lost the leadership has to be ready again before
   * the next leader may fail.
   */
  lostMs: number
}

/** Default time limits of a step. Each single wait within a step has a shorter timeout. */
const DEFAULT_STEP_LIMITS: StepLimits = { stepMs: 5 * 60_000, endMs: 30_000, lostMs: 1_000 }

/**
 * Runs workers together until the signal or the first fatal error, which also ends the other workers.
 * @throws the first fatal error, or the error of a step that the signal interrupted, once all workers have ended
 */
export async function runWorkers(
  workers: readonly Worker[],
  { signal, ...context }: WorkerContext,
): Promise<void> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  // each worker listens while it waits, so many listeners are not a leak
  setMaxListeners(0, either)
  const errors: unknown[] = []
  await Promise.all(
    workers.map((worker) =>
      runWorker(worker, { ...context, signal: either }).catch((error: unknown) => {
        errors.push(error)
        failed.abort(error)
      }),
    ),
  )
  if (errors.length > 0) throw errors[0]
}

async function runWorker(
  worker: Worker,
  { loops = new WorkerLoops(), ...rest }: WorkerContext,
): Promise<void> {
  const context = { ...rest, loops }
  const loop = loops.register({ ...worker.fields, name: worker.name }, worker.alarms)
  const unsubscribe = worker.subscribe?.()
  try {
    await repeatSteps(worker, context, loop)
  } finally {
    unsubscribe?.()
    loop.end()
  }
}

/** Runs a worker's steps until the signal. @throws FatalError; the error of a step that the signal interrupted */
async function repeatSteps(
  worker: Worker,
  context: WorkerContext & { loops: WorkerLoops },
  loop: LoopReporter,
): Promise<void> {
  const {
    log,
    signal,
    loops,
    errorPausesMs = BACKOFF_PAUSES_MS.step,
    limits = DEFAULT_STEP_LIMITS,
  } = context
  const {
    name,
    fields,
    notify = createLoopWaker(),
    maxBusySteps = Number.POSITIVE_INFINITY,
  } = worker
  let failures = 0
  let busySteps = 0
  while (!signal.aborted) {
    try {
      const outcome = await stepInTime(worker, { signal, limits, turned: loop.turned })
      loop.succeeded()
      failures = 0
      worker.check?.()
      busySteps = outcome === 'progressed' ? busySteps + 1 : 0
      if (busySteps > 0 && busySteps <= maxBusySteps) continue
      busySteps = 0
      const isIdle = outcome === 'idle'
      const { pollMs, idleMs = pollMs } = worker
      await notify.wait(isIdle ? Math.max(pollMs, idleMs) : pollMs, signal, !isIdle)
    } catch (error) {
      if (error instanceof FatalError || signal.aborted) throw error
      if (isInternalError(error)) loops.internalErrors.report({ ...fields, name }, error, log)
      else if (failures === 0)
        log.warn({ ...fields, err: error }, `a step of ${name} failed; it will be tried again`)
      else log.debug({ ...fields, err: error, failures }, `a step of ${name} failed again`)
      loop.failed(error as Error)
      worker.onFailure?.(error as Error)
      failures += 1
      await pauseUntilSignal(backoffPauseMs(failures, errorPausesMs), signal)
    }
  }
}

interface StepContext extends Required<Pick<WorkerContext, 'signal' | 'limits'>> {
  turned(): void
}

/** Runs a worker's step. @throws StepTimeoutError when the step exceeds a limit; the step is abandoned */
function stepInTime(
  worker: Worker,
  { signal, limits: { stepMs, endMs, lostMs }, turned }: StepContext,
): Promise<StepResult> {
  return new Promise((resolve, reject) => {
    let late: NodeJS.Timeout
    let isOver = false
    const allow = (ms: number) => {
      clearTimeout(late)
      const timeout = () =>
        reject(new StepTimeoutError(`a step of ${worker.name} has not ended for ${ms / 1_000} s`))
      if (!isOver) late = setTimeout(timeout, ms)
    }
    const end = () => allow(signal.reason instanceof FatalError ? lostMs : endMs)
    signal.addEventListener('abort', end, { once: true })
    allow(stepMs)
    const over = () => {
      isOver = true
      clearTimeout(late)
      signal.removeEventListener('abort', end)
    }
    const step = worker.step(signal, () => {
      turned()
      if (!signal.aborted) allow(stepMs)
    })
    step.finally(over).then(resolve, reject)
  })
}
