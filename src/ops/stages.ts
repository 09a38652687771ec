import { LastMinuteSums } from './lastMinute.js'

/**
 * Stages of a chain's indexing loop: it waits for a node, decodes and hashes logs, folds entries, writes rows and waits
 * for the database, or pauses between two steps.
 */
const LOOP_STAGES = ['node', 'decode', 'fold', 'database', 'idle'] as const
export type LoopStage = (typeof LOOP_STAGES)[number]

/** Measures how one loop divides its time among its stages. The loop is in exactly one stage at any time. */
export class LoopStageTimer {
  readonly #nowMs: () => number
  readonly #minute = new LastMinuteSums<LoopStage>()
  #stage: LoopStage = 'idle'
  #sinceMs: number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.#sinceMs = nowMs()
  }

  /** Runs a part of the loop in a stage. Afterwards the loop is in the previous stage again. */
  async during<T>(stage: LoopStage, part: () => Promise<T>): Promise<T> {
    const around = this.#enter(stage)
    try {
      return await part()
    } finally {
      this.#enter(around)
    }
  }

  /**
   * Runs work that occupies the processor, and counts its time to a stage. Work on a prefetched range is counted too,
   * even while the loop waits for something else. Of an asynchronous function only the part before its first await is
   * counted.
   */
  work<T>(stage: LoopStage, work: () => T): T {
    const around = this.#enter(stage)
    try {
      return work()
    } finally {
      this.#enter(around)
    }
  }

  /** Time of the last minute by stage, ms. A stage that has not ended counts up to now. */
  lastMinute(): Record<LoopStage, number> {
    this.#enter(this.#stage)
    const times = LOOP_STAGES.map((stage) => [stage, this.#minute.sum(stage, this.#sinceMs)])
    return Object.fromEntries(times) as Record<LoopStage, number>
  }

  /** Begins a stage. @returns the stage that ended */
  #enter(stage: LoopStage): LoopStage {
    const ended = this.#stage
    const nowMs = this.#nowMs()
    this.#minute.addTime(ended, this.#sinceMs, nowMs)
    this.#sinceMs = nowMs
    this.#stage = stage
    return ended
  }
}
