import { appendFileSync } from 'node:fs'
import { median } from './bench.js'

/** A measurement beside its floor in the same run. */
export interface Figure {
  title: string
  floor: string
  /** Times that ours took for one that the floor took, of each run: 1 is as quick, 2 takes twice as long. */
  ratios: number[]
}

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

/** Ratios that hold, by titles. */
export type Held = Readonly<Record<string, number>>

/** How much a median may be above what holds before it is a regression: two quiet machines differ by less. */
const TOLERANCE = 1.3

/** Sentences about figures of which nothing is held: a new one, or one of the other size. That is no regression. */
export const unheld = (figures: readonly Figure[], held: Held): string[] =>
  figures
    .filter(({ title }) => held[title] === undefined)
    .map(({ title }) => `${title}: no ratio is held for it`)

/** Sentences about figures that got worse than what holds. */
export function regressions(figures: readonly Figure[], held: Held): string[] {
  return figures.flatMap(({ title, ratios }) => {
    const now = median(ratios)
    const before = held[title]
    return before === undefined || now <= before * TOLERANCE
      ? []
      : [`${title}: ${now.toFixed(2)} times its floor, ${before.toFixed(2)} are held`]
  })
}
