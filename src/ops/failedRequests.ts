import { performance } from 'node:perf_hooks'
import type { Problem } from './alarms.js'
import { sentenceOf } from './log/errors.js'

/** Time over which requests are counted, in slots of equal length, ms. */
const WINDOW_MS = 60_000
const SLOTS = 12
const SLOT_MS = WINDOW_MS / SLOTS

/** Failed requests of a kind, and their share of all, that make a problem. */
const LEAST_FAILED = 3
export const ALARM_SHARE = 0.5

interface Slot {
  /** Number of the slot since the clock began. */
  at: number
  all: number
  failed: number
}

interface Counted {
  method: string
  route: string
  slots: Slot[]
  /** Newest failure, in words. */
  lastError: string
}

/** Requests of the last minute by kind, so that `/status` and the metrics say what callers get. */
export class FailedRequests {
  readonly #nowMs: () => number
  /** By method and route pattern, of which there are as many as routes. */
  readonly #kinds = new Map<string, Counted>()

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** @param failure error that the request failed by; undefined where the service did what it was asked */
  count({ method, route }: { method: string; route: string }, failure?: unknown): void {
    const key = `${method} ${route}`
    const kind = this.#kinds.get(key) ?? { method, route, slots: [], lastError: '' }
    this.#kinds.set(key, kind)

    const at = Math.floor(this.#nowMs() / SLOT_MS)
    if (kind.slots.at(-1)?.at !== at) {
      kind.slots = this.#recent(kind)
      kind.slots.push({ at, all: 0, failed: 0 })
    }
    const slot = kind.slots.at(-1)!
    slot.all += 1
    if (failure === undefined) return
    slot.failed += 1
    kind.lastError = sentenceOf(failure)
  }

  /** Kinds of which at least three requests failed in the last minute. `share`: of all of the kind. */
  shares(): { method: string; route: string; failed: number; all: number; share: number }[] {
    return [...this.#kinds.values()].flatMap((kind) => {
      const slots = this.#recent(kind)
      const all = slots.reduce((sum, slot) => sum + slot.all, 0)
      const failed = slots.reduce((sum, slot) => sum + slot.failed, 0)
      const { method, route } = kind
      return failed < LEAST_FAILED ? [] : [{ method, route, failed, all, share: failed / all }]
    })
  }

  /** Kinds of which more than half failed, with the newest cause. */
  problems(): Problem[] {
    const failing = this.shares().filter(({ share }) => share > ALARM_SHARE)
    return failing.map(({ method, route, failed, all }) => {
      const why = this.#kinds.get(`${method} ${route}`)!.lastError
      const text = `${failed} of ${all} requests ${method} ${route} failed in the last minute, the newest by: ${why}`
      return { alarm: 'ClusterdErrors', text }
    })
  }

  #recent({ slots }: Counted): Slot[] {
    const oldest = Math.floor(this.#nowMs() / SLOT_MS) - SLOTS
    return slots.filter(({ at }) => at > oldest)
  }
}
