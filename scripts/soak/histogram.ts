/** Histogram of durations, whose buckets are 5 % wide: percentiles of any number of durations in a few kilobytes. */

const LEAST_MS = 0.1
const WIDTH = 1.05
/** Number of buckets: the last ends at about five minutes. */
const BUCKETS = 310

export interface Histogram {
  add(ms: number): void
  count(): number
  /** Upper end of the bucket up to which `share` of the times are, ms; NaN without times. */
  percentile(share: number): number
}

export function createHistogram(): Histogram {
  const buckets = new Float64Array(BUCKETS)
  let count = 0
  return {
    add(ms) {
      const bucket = Math.ceil(Math.log(Math.max(ms, LEAST_MS) / LEAST_MS) / Math.log(WIDTH))
      const place = Math.min(BUCKETS - 1, bucket)
      buckets[place] = buckets[place]! + 1
      count += 1
    },
    count: () => count,
    percentile(share) {
      if (count === 0) return Number.NaN
      let left = Math.ceil(share * count)
      const place = buckets.findIndex((times) => {
        left -= times
        return left <= 0
      })
      return LEAST_MS * WIDTH ** place
    },
  }
}
