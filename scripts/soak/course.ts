/**
 * Number of parts of a run: `npm run soak` keeps only the peak of each series in each part. Tenths and quarters of the
 * run are whole numbers of these twentieths.
 */
export const PARTS = 20

/** Largest ratio of the last quarter's peak to the peak of the quarter before that counts as flat. */
const FLAT = 1.1

/**
 * By the kind of a series, the growth that counts as noise however small the values are: without it, 1.1 times three
 * rows would allow no fourth row. A series of the kind `shown` is printed and not judged.
 * - `mib`: memory, MiB
 * - `count`: handles, sockets, connections, rows of a table that must not grow
 * - `ratio`: rows of a table for each registration
 */
const NOISE = { mib: 0, count: 5, ratio: 0.05, shown: Number.POSITIVE_INFINITY } as const

export type Kind = keyof typeof NOISE

/** One value of a series. */
export interface Reading {
  name: string
  kind: Kind
  value: number
}

/** A series with its peaks, one for each twentieth of the run; NaN for a twentieth without a reading. */
export interface Series {
  name: string
  kind: Kind
  peaks: readonly number[]
}

/** Readings of a run, aggregated as they come. */
interface Course {
  /** @param atMs time since the run began; a reading after its end belongs to the last part */
  add(atMs: number, readings: readonly Reading[]): void
  series(): Series[]
}

/** Creates an empty course. @param runMs length of the run */
export function createCourse(runMs: number): Course {
  const byName = new Map<string, { kind: Kind; peaks: number[] }>()
  return {
    add(atMs, readings) {
      const part = partOf(atMs, runMs, PARTS)
      for (const { name, kind, value } of readings) {
        const series = byName.get(name) ?? {
          kind,
          peaks: new Array<number>(PARTS).fill(Number.NaN),
        }
        byName.set(name, series)
        if (Number.isNaN(value)) continue
        const before = series.peaks[part]!
        series.peaks[part] = Number.isNaN(before) ? value : Math.max(before, value)
      }
    },
    series: () => [...byName].map(([name, { kind, peaks }]) => ({ name, kind, peaks })),
  }
}

/** Number, from 0, of the part of a run that a time lies in. */
export function partOf(atMs: number, runMs: number, parts: number): number {
  const part = Math.floor((atMs / runMs) * parts)
  return Math.min(parts - 1, Math.max(0, part))
}

/** The highest peak of the parts `from` to `to` (exclusive) of a series; NaN where these have no reading. */
export function peakOf(peaks: readonly number[], from: number, to: number): number {
  const read = peaks.slice(from, to).filter((peak) => !Number.isNaN(peak))
  return read.length === 0 ? Number.NaN : Math.max(...read)
}

/** Result of a series: its peaks in the second half of the run, and whether they grew. */
interface Judgement {
  name: string
  kind: Kind
  /** Peak of the third quarter. */
  third: number
  /** Peak of the last quarter. */
  last: number
  /** Highest peak that the last quarter may have. */
  most: number
  /** False where the series grew, or where a quarter has no reading. */
  isFlat: boolean
}

/** Compares the peak of the last quarter with that of the quarter before. */
export function judge({ name, kind, peaks }: Series): Judgement {
  const third = peakOf(peaks, PARTS / 2, (PARTS * 3) / 4)
  const last = peakOf(peaks, (PARTS * 3) / 4, PARTS)
  const most = Math.max(third * FLAT, third + NOISE[kind])
  return { name, kind, third, last, most, isFlat: kind === 'shown' || last <= most }
}

/** Results of look-ups and registrations, on which the verdict depends beside the series. */
export interface Outcome {
  /** Number of look-ups that failed outside of faults. */
  failed: number
  /** Reason of the first failed look-up; null without one. */
  failure: string | null
  /** Number of registrations that were sent. */
  sent: number
  /** Number of registrations that became final. */
  finalized: number
  /** The first registration that went wrong, and why. */
  lost: string | null
}

/** Sentences about series that grew and about failures; empty for a run that passes. */
export function breaches(series: readonly Series[], outcome: Outcome): string[] {
  const refused = series.map(judge).filter(({ isFlat }) => !isFlat)
  const missing = refused.filter(({ third, last }) => Number.isNaN(third + last))
  const sentences = refused
    .filter((one) => !missing.includes(one))
    .map(
      ({ name, third, last, most }) =>
        `${name}: the peak grew from ${digits(third)} to ${digits(last)}, ${digits(most)} is allowed`,
    )
  if (missing.length > 0)
    sentences.push(
      `a quarter of the last half has no sample of: ${missing.map(({ name }) => name).join(', ')}`,
    )
  const { failed, failure, sent, finalized, lost } = outcome
  if (failed > 0)
    sentences.push(`${failed} look-ups failed outside of faults, the first by: ${failure}`)
  if (finalized < sent || lost !== null)
    sentences.push(
      `${finalized} of ${sent} registrations are final: ${lost ?? 'the others are still open'}`,
    )
  if (sent === 0) sentences.push('no registration was sent')
  return sentences
}

/** Text of a number in a table: rounded to a whole number from 100 on, else to one or two decimals. */
export function digits(value: number): string {
  if (Number.isNaN(value)) return '-'
  if (value >= 100 || Number.isInteger(value)) return value.toFixed(0)
  return value < 10 ? value.toFixed(2) : value.toFixed(1)
}
