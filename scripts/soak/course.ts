/**
 * What `npm run soak` keeps of its samples: of each series the peak in each twentieth of the run, however long the run
 * is. Tenths of the run and its quarters are whole numbers of twentieths.
 */
export const PARTS = 20

/** Growth of the last quarter's peak over that of the quarter before which counts as flat. */
const FLAT = 1.1

/**
 * What a series measures, and the difference that is noise however small its values are: 1.1 times three rows allow no
 * fourth row. A series of another kind is shown and not judged.
 *
 * - `mib`: memory, MiB
 * - `count`: handles, sockets, connections, rows of a table that must not grow
 * - `ratio`: rows of a table for each registration
 */
const NOISE = { mib: 0, count: 5, ratio: 0.05, shown: Number.POSITIVE_INFINITY } as const

export type Kind = keyof typeof NOISE

/** A value of a series at a time. */
export interface Reading {
  name: string
  kind: Kind
  value: number
}

/** A series with its peaks, one for each twentieth of the run; NaN for a part without a reading. */
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

/** @param runMs how long the run is */
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

/** The highest value of parts of a series; NaN where they have no reading. */
export function peakOf(peaks: readonly number[], from: number, to: number): number {
  const read = peaks.slice(from, to).filter((peak) => !Number.isNaN(peak))
  return read.length === 0 ? Number.NaN : Math.max(...read)
}

/** A series in the second half of the run. */
interface Judgement {
  name: string
  kind: Kind
  /** Peaks of the third quarter and of the last one, and the highest that the last one may have. */
  third: number
  last: number
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

/** What else the verdict depends on. */
export interface Outcome {
  /** Failed look-ups outside of faults, and the first of their reasons. */
  failed: number
  failure: string | null
  /** Registrations that were sent, and that became final. */
  sent: number
  finalized: number
  /** The first registration that went wrong, and why. */
  lost: string | null
}

/** Sentences about what is not flat or went wrong; none for a run that passes. */
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

/** A value of a table: whole from a hundred on. */
export function digits(value: number): string {
  if (Number.isNaN(value)) return '-'
  if (value >= 100 || Number.isInteger(value)) return value.toFixed(0)
  return value < 10 ? value.toFixed(2) : value.toFixed(1)
}
