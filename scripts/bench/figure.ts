import { appendFileSync } from 'node:fs'
import { median } from './bench.js'

/** A measurement of the daemon beside that of a bare program (floor) in the same runs. */
export interface Figure {
  title: string
  floor: string
  /** Processor time of the programs with their PostgreSQL, or wall-clock time, which other processes influence. */
  measure: 'processor' | 'clock'
  /** The daemon's value divided by the floor's, for each run: 1 is as cheap, 2 costs twice as much. */
  ratios: number[]
}

/** Name of a figure in docs/measure/performance.md and in ratios.json. */
export const nameOf = ({ title, measure }: Figure): string => `${title}, ${measure}`

/** Environment variable with the path of the file to which figures are appended, a line of JSON each. */
export const FIGURES_FILE = 'CLUSTERD_BENCH_FIGURES'

/** Passes a figure, or the machine's description, to `npm run bench`, if that started this benchmark. */
export function recordFigure(figure: Figure | { machine: string }): void {
  const file = process.env[FIGURES_FILE]
  if (file) appendFileSync(file, `${JSON.stringify(figure)}\n`)
}

/** Ratio of two measurements for each run: within a run, other programs load the machine about equally. */
export const byRun = (ours: readonly number[], floor: readonly number[]): number[] =>
  ours.map((value, run) => value / floor[run]!)

/** Median, smallest and largest of a figure's ratios. */
export const spreadOf = ({ ratios }: Figure) => ({
  median: median(ratios),
  least: Math.min(...ratios),
  most: Math.max(...ratios),
})

/** Ratios recorded in ratios.json, by the figures' names. */
export type Held = Readonly<Record<string, number>>

/** Largest accepted increase of a median over the recorded ratio: two quiet machines differ by less. */
const TOLERANCE = 1.3

/** Sentences about figures without a recorded ratio: new figures, or figures of a run with other sizes. */
export const unheld = (figures: readonly Figure[], held: Held): string[] =>
  figures
    .filter((figure) => held[nameOf(figure)] === undefined)
    .map((figure) => `${nameOf(figure)}: no ratio is held for it`)

/** The ratios to hold after a run: a better one is held from now on, and a worse one, as of a slower machine, is not. */
export const lowered = (figures: readonly Figure[], held: Held): Held =>
  Object.fromEntries(
    figures.map((figure) => {
      const name = nameOf(figure)
      const now = Number(median(figure.ratios).toFixed(2))
      return [name, Math.min(now, held[name] ?? now)]
    }),
  )

/** Sentences about processor times whose ratio is worse than recorded. Wall-clock times are not compared. */
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
