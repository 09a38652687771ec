import { appendFileSync } from 'node:fs'
import { median } from './bench.js'

/** A measurement beside its floor in the same run. */
export interface Figure {
  title: string
  floor: string
  /** Processor time of the programs with their PostgreSQL, or time by the clock, in which neighbours show too. */
  measure: 'processor' | 'clock'
  /** Ours divided by the floor's, of each run: 1 is as cheap, 2 costs twice as much. */
  ratios: number[]
}

/** Name of a figure in the page and in the file of ratios. */
export const nameOf = ({ title, measure }: Figure): string => `${title}, ${measure}`

/** Environment variable: the file to which figures go, a line of JSON each. */
export const FIGURES_FILE = 'CLUSTERD_BENCH_FIGURES'

/** Hands a figure, or what the machine is, to `npm run bench`, where that is what runs. */
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

/** Ratios that hold, by the figures' names. */
export type Held = Readonly<Record<string, number>>

/** How much a median may be above what holds before it is a regression: two quiet machines differ by less. */
const TOLERANCE = 1.3

/** Sentences about figures of which nothing is held: a new one, or one of the other size. That is no regression. */
export const unheld = (figures: readonly Figure[], held: Held): string[] =>
  figures
    .filter((figure) => held[nameOf(figure)] === undefined)
    .map((figure) => `${nameOf(figure)}: no ratio is held for it`)

/** Sentences about processor times that got worse than what holds. Times by the clock are not compared. */
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
