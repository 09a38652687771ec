/**
 * Width of the next `eth_getLogs` range, learned from answers: halved when a node says "too much" (an upper bound for
 * many answers), grown while answers stay small.
 */
export type RangeWidth = ReturnType<typeof createRangeWidth>

/** Small, since several ranges are requested before the first answer; sparse blocks grow it fourfold per answer. */
const FIRST_BLOCKS = 8
const MAX_BLOCKS = 10_000
/** Logs per range, about 2 MB of JSON: enough to hide the round trip, small enough to die young in memory. */
const TARGET_LOGS = 3_000

/** After so many answers of the greatest width twice as much is tried: a node may only have been overloaded. */
const HELD_ANSWERS = 256

export function createRangeWidth(first = FIRST_BLOCKS) {
  let blocks = first
  let ceiling = MAX_BLOCKS
  let held = 0
  return {
    get blocks(): number {
      return blocks
    },
    /** A node refused a range of this many blocks. */
    tooMuch(asked: number): void {
      ceiling = Math.max(1, Math.floor(asked / 2))
      blocks = Math.min(blocks, ceiling)
      held = 0
    },
    /** A range of this many blocks failed for another reason: a small request succeeds more often. */
    failed(asked: number): void {
      blocks = Math.max(1, Math.min(blocks, Math.floor(asked / 2)))
    },
    /** A range of this many blocks gave this many logs. */
    answered(asked: number, logs: number): void {
      // a range cut short by the end of the chain says nothing about the width
      if (asked < blocks) return
      if (asked >= ceiling) held += 1
      if (held >= HELD_ANSWERS) {
        ceiling = Math.min(MAX_BLOCKS, 2 * ceiling)
        held = 0
      }
      const fitting = logs === 0 ? asked * 4 : Math.floor((asked * TARGET_LOGS) / logs)
      blocks = Math.max(1, Math.min(ceiling, fitting, asked * 4))
    },
  }
}
