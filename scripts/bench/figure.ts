import { appendFileSync } from 'node:fs'
import { median } from './bench.js'

/** A measurement beside its floor in the same run. */
export interface Figure {
  title: string
  floor: string
  /** Processor time of the programs with their PostgreSQL, or wall-clock time, which other processes influence. */
  measure: 'processor' | 'clock'
  /** Ours divided by the floor's, for each run: 1 is as cheap, 2 costs twice as much. */
  ratios: number[]
}

/** Name of a figure in the page and in the file of ratios. */
export const nameOf = ({ title, measure }: Figure): string => `${title}, ${measure}`

/** Environment variable: the file to which figures go, a line of JSON each. */
export const FIGURES_FILE = 'CLUSTERD_BENCH_FIGURES'

/** Passes a figure, or the machine's description, to `npm run bench`, if it runs. */
export function recordFigure(figure: Figure | { machine: string }): void {
  const file = process.env[FIGURES_FILE]
  if (file) appendFileSync(file, `${JSON.stringify(figure)}\n`)
}

/** Ratios of two measurements, run by run: other programs' use of the machine changes slower than a run takes. */
export const byRun = (ours: readonly number[], floor: readonly number[]): number[] =>
  ours.map((value, run) => value / floor[run]!)

/** Middle and ends of a figure's ratios. */
export const spreadOf = ({ ratios }: Figure) => ({
  median: median(ratios),
  least: Math.min(...ratios),
  most: Math.max(...ratios),
})

/** Recorded ratios by the figures' names. */
export type Held = Readonly<Record<string, number>>

/** Largest accepted increase of a median over the recorded ratio: two quiet machines differ by less. */
const TOLERANCE = 1.3

/** Sentences about figures without a recorded ratio: new ones, or ones of another size. They are not regressions. */
export const unheld = (figures: readonly Figure[], held: Held): string[] =>
  figures
    .filter((figure) => held[nameOf(figure)] === undefined)
    .map((figure) => `${nameOf(figure)}: no ratio is held for it`)

/** Sentences about processor times that became worse than recorded. Wall-clock times are not compared. */
export function regressions(figures: readonly Figure[], held: Held): string[] {
  return figures
    .filter(({ measure }) => measure === 'processor')
    .flatMap((figure) => {
      const name = nameOf(figure)
      const now = median(figure.ratios)
      const before = held[name]
      return before === undefined || now <= before * TOLERANCE
        ? []
        : [`${name}: ${now.toFixed(2)} times its floor, ${before.toFixed(2)} are held`]
    })
}
