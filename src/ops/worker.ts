import { setMaxListeners } from 'node:events'
import { isOwnError } from './log/errors.js'
import type { Logger } from './log/log.js'
import { type Loop, Loops } from './loops.js'
import { createNotify, type Notify, PAUSES_MS, pause, pauseAfter } from './notify.js'
import type { LoopName } from './ownErrors.js'

/** No step may follow this error: it ends all workers that run together. */
export class FatalError extends Error {
  override name = 'FatalError'
}

/** Why a signal fired: another process may lead from now on, and what steps still write is refused. */
export class LeadLostError extends FatalError {
  override name = 'LeadLostError'
}

/** A step took longer than it may: what it waits for has no end. A new lead's epoch keeps it from writing later. */
export class StepTimeoutError extends FatalError {
  override name = 'StepTimeoutError'
}

/** Pause of a worker that has nothing under way and is told of what comes: the poll finds what got lost. */
export const IDLE_POLL_MS = 5_000

/** Outcome of a step; `waiting`: for a chain, or for a time. */
export type StepResult = 'progressed' | 'waiting' | 'idle'

/** A loop of steps, one of several that run together. */
export interface Worker {
  /** Names the worker in log messages, after "a step of". */
  name: string
  /** Fields of the worker's log lines. */
  fields: Omit<LoopName, 'name'>
  /** Pause after a step that found nothing to do, ms. */
  readonly pollMs: number
  /** Least pause after an `idle` step, ms; default: `pollMs`. */
  idleMs?: number
  /** Ends a pause early. */
  notify?: Notify
  /** For the time that the worker runs. @returns what closes it */
  subscribe?(): (() => void) | undefined
  /** Most consecutive steps without a pause; none where it is left out. */
  maxBusySteps?: number
  /**
   * Does what there is to do now, without timers.
   * @param alive to be called now and then by a step that takes long (a catch-up): the time limit begins anew
   * @throws FatalError (a lost leadership) ends all workers; any other error is logged, and the step is tried again
   */
  step(signal: AbortSignal, alive: () => void): Promise<StepResult>
  /** Runs after each step that succeeded, to raise alarms. */
  check?(): void
  /** Runs after each step that failed. */
  onFailure?(error: Error): void
}

export interface WorkerContext {
  log: Logger
  signal: AbortSignal
  /** Shows that the workers turn. */
  loops?: Loops
  /** Pauses after a failed step, ms, by the number of failures in a row before it; the last one stays. */
  errorPausesMs?: readonly number[]
  limits?: Limits
}

/** Time limits of a step, ms. */
interface Limits {
  /** From its start or its last sign of life. */
  stepMs: number
  /** Of its end once the signal has fired. */
  endMs: number
  /** The same after a FatalError: who lost the lead is to stand by again before the next leader can be missed. */
  lostMs: number
}

/** Everything that a step waits for has a shorter limit of its own. */
const STEP_LIMITS: Limits = { stepMs: 5 * 60_000, endMs: 30_000, lostMs: 1_000 }

/**
 * Runs workers side by side until the signal or the first fatal error, which ends the others too.
 * @throws the first fatal error, or the error of a step that the signal cut short, once all workers have ended
 */
export async function runWorkers(
  workers: readonly Worker[],
  { signal, ...context }: WorkerContext,
): Promise<void> {
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  // each of them listens while it waits: many chains are no leak
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
  { loops = new Loops(), ...rest }: WorkerContext,
): Promise<void> {
  const context = { ...rest, loops }
  const loop = loops.start({ ...worker.fields, name: worker.name })
  const unsubscribe = worker.subscribe?.()
  try {
    await repeat(worker, context, loop)
  } finally {
    unsubscribe?.()
    loop.end()
  }
}

async function repeat(
  worker: Worker,
  context: WorkerContext & { loops: Loops },
  loop: Loop,
): Promise<void> {
  const { log, signal, loops, errorPausesMs = PAUSES_MS.step, limits = STEP_LIMITS } = context
  const { name, fields, notify = createNotify(), maxBusySteps = Number.POSITIVE_INFINITY } = worker
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
      if (isOwnError(error)) loops.ownErrors.report({ ...fields, name }, error, log)
      else if (failures === 0)
        log.warn({ ...fields, err: error }, `a step of ${name} failed; it will be tried again`)
      else log.debug({ ...fields, err: error, failures }, `a step of ${name} failed again`)
      loop.failed(error as Error)
      worker.onFailure?.(error as Error)
      failures += 1
      await pause(pauseAfter(failures, errorPausesMs), signal)
    }
  }
}

interface StepContext extends Required<Pick<WorkerContext, 'signal' | 'limits'>> {
  turned(): void
}

/** @throws StepTimeoutError when the step exceeds a limit; the step is abandoned */
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
