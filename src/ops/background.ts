import { setTimeout as sleep } from 'node:timers/promises'

/** Pause for each request that arrived during a part of background work. It exceeds the processor time of a look-up. */
const PAUSE_PER_REQUEST_MS = 3
/** Longest pause after a part of background work. */
const MAX_PAUSE_MS = 300

let apiRequestCount = 0

/** Counts a request of the API. Background work of this process pauses for each counted request. */
export const countApiRequest = (): void => {
  apiRequestCount += 1
}

/** Length of the pause after a part of background work during which `arrived` requests arrived, ms. */
export const backgroundPauseMs = (workedMs: number, arrived: number): number =>
  Math.floor(Math.min(workedMs, arrived * PAUSE_PER_REQUEST_MS, MAX_PAUSE_MS))

/**
 * Long work of a process that may serve requests at the same time: a catch-up, or a mirror's first read. Without pauses
 * the work would take all processor time, and requests would wait for seconds. The work pauses after each part for 3 ms
 * per request that arrived meanwhile, at most for as long as the part took, and at most 300 ms. So the work keeps at
 * least half of its speed, and all of its speed where no requests arrive.
 */
export class BackgroundWork {
  #requestsAtResume = apiRequestCount
  #resumedMs = performance.now()

  /** True if requests arrived since the last pause. Parts should then be small, since a request may wait for a part. */
  get isShared(): boolean {
    return apiRequestCount > this.#requestsAtResume
  }

  /** Pauses after a part of the background work. The signal ends the pause early. */
  async pause(signal?: AbortSignal): Promise<void> {
    const pauseMs = backgroundPauseMs(
      performance.now() - this.#resumedMs,
      apiRequestCount - this.#requestsAtResume,
    )
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal }).catch(() => {})
    this.#requestsAtResume = apiRequestCount
    this.#resumedMs = performance.now()
  }
}
