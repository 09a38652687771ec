import { LastMinute } from './lastMinute.js'

/**
 * What the loop of a chain's indexer does: waits for a node, decodes and hashes logs, folds entries, writes rows and
 * waits for the database, or pauses between two steps.
 */
const STAGES = ['node', 'decode', 'fold', 'database', 'idle'] as const
export type Stage = (typeof STAGES)[number]

/** Divides the time of one loop among its stages. The loop is in exactly one of them at any time. */
export class StageClock {
  readonly #nowMs: () => number
  readonly #minute = new LastMinute<Stage>()
  #stage: Stage = 'idle'
  #sinceMs: number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
    this.#sinceMs = nowMs()
  }

  /** Runs a part of the loop; the stage around it goes on afterwards. */
  async during<T>(stage: Stage, part: () => Promise<T>): Promise<T> {
    const around = this.#enter(stage)
    try {
      return await part()
    } finally {
      this.#enter(around)
    }
  }

  /**
   * Runs work that occupies the processor. Work of reads ahead counts too: nothing else runs meanwhile, whatever the
   * loop waits for. Of an asynchronous function the part up to its first wait is counted.
   */
  work<T>(stage: Stage, work: () => T): T {
    const around = this.#enter(stage)
    try {
      return work()
    } finally {
      this.#enter(around)
    }
  }

  /** Time of the last minute by stage, ms. A part that has not ended counts up to now. */
  lastMinute(): Record<Stage, number> {
    this.#enter(this.#stage)
    const times = STAGES.map((stage) => [stage, this.#minute.sum(stage, this.#sinceMs)])
    return Object.fromEntries(times) as Record<Stage, number>
  }

  /** @returns the stage that ends */
  #enter(stage: Stage): Stage {
    const ended = this.#stage
    const nowMs = this.#nowMs()
    this.#minute.addTime(ended, this.#sinceMs, nowMs)
    this.#sinceMs = nowMs
    this.#stage = stage
    return ended
  }
}
