import { performance } from 'node:perf_hooks'
import { sentenceOf } from './log/errors.js'
import { OwnErrors } from './ownErrors.js'

/** Names a loop in health, status and metrics. */
export interface LoopName {
  name: string
  network?: string
  chain?: string
}

export interface LoopState extends LoopName {
  /** Time since the last turn or sign of life, ms. */
  ageMs: number
  /** Failed turns in a row. */
  failures: number
  lastError: string | null
}

/** A loop under way. */
export type Loop = ReturnType<Loops['start']>

/** Ages come from a clock that nobody sets. */
export class Loops {
  /** Errors of our own code in these loops, and beside them. */
  readonly ownErrors: OwnErrors
  readonly #nowMs: () => number
  readonly #running = new Set<Omit<LoopState, 'ageMs'> & { turnedMs: number }>()

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.ownErrors = new OwnErrors(nowMs)
  }

  start({ name, network, chain }: LoopName) {
    const where = {
      ...(network !== undefined && { network }),
      ...(chain !== undefined && { chain }),
    }
    const loop = {
      name,
      ...where,
      turnedMs: this.#nowMs(),
      failures: 0,
      lastError: null as string | null,
    }
    this.#running.add(loop)
    const turned = (failures: number, lastError: string | null): void => {
      Object.assign(loop, { turnedMs: this.#nowMs(), failures, lastError })
    }
    return {
      /** Called at each turn, and as a sign of life within a long one. */
      turned: () => turned(loop.failures, loop.lastError),
      succeeded: () => turned(0, null),
      failed: (error: Error) => turned(loop.failures + 1, sentenceOf(error)),
      end: () => this.#running.delete(loop),
    }
  }

  states(): LoopState[] {
    const nowMs = this.#nowMs()
    return [...this.#running].map(({ turnedMs, ...loop }) => ({ ...loop, ageMs: nowMs - turnedMs }))
  }
}
