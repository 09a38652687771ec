import { printTable, thousands } from '../bench/bench.js'
import { digits, judge, PARTS, peakOf, type Reading, type Series } from './course.js'
import type { Tally } from './lookUps.js'

export const TENTHS = 10

/** Columns of the table by tenths of the run: the title, by the name of the series in the column. */
const COLUMNS: Readonly<Record<string, string>> = {
  resident: 'resident MiB',
  'heap used': 'heap MiB',
  external: 'external MiB',
  files: 'files',
  sockets: 'sockets',
  handles: 'handles',
  connections: 'connections',
  'bounded rows': 'bounded rows',
  'rows a registration': 'rows a reg.',
  final: 'final',
  'daemon %': 'daemon %',
  soak: 'soak MiB',
}

/** Text of a log line about one minute of the run. */
export function describeSample(readings: readonly Reading[], tally: Tally): string {
  const values = Object.entries(COLUMNS).map(([name, title]) => {
    const reading = readings.find((one) => one.name === name)
    return `${title} ${digits(reading?.value ?? Number.NaN)}`
  })
  const { times, failed, failedInFaults } = tally
  values.push(
    `look-ups ${times.count()} p50 ${digits(times.percentile(0.5))} p99 ${digits(times.percentile(0.99))} ms`,
    `failed ${failed}, in faults ${failedInFaults}`,
  )
  return values.join(', ')
}

/** Prints the run by tenths: the peak of each series, and the look-ups outside of faults. */
export function printTenths(
  series: readonly Series[],
  tallies: readonly Tally[],
  runMs: number,
): void {
  const shown = Object.keys(COLUMNS)
  const partsOfTenth = PARTS / TENTHS
  const rows = tallies.map(({ times, failed, failedInFaults }, tenth) => {
    const untilMinute = (runMs * (tenth + 1)) / TENTHS / 60_000
    const peaks = shown.map((name) => {
      const found = series.find((one) => one.name === name)
      const from = tenth * partsOfTenth
      return digits(peakOf(found?.peaks ?? [], from, from + partsOfTenth))
    })
    return [
      digits(untilMinute),
      ...peaks,
      thousands(times.count()),
      digits(times.percentile(0.5)),
      digits(times.percentile(0.99)),
      String(failed),
      String(failedInFaults),
    ]
  })
  const titles = ['look-ups', 'p50 ms', 'p99 ms', 'failed', 'in faults']
  printTable([['until minute', ...Object.values(COLUMNS), ...titles], ...rows])
}

/** Prints the peaks of the last two quarters of each series that is judged and not always 0. */
export function printJudgements(series: readonly Series[]): void {
  const rows = series
    .filter(({ kind }) => kind !== 'shown')
    .map(judge)
    .filter(({ third, last }) => third !== 0 || last !== 0)
  printTable([
    ['peak', 'third quarter', 'last quarter', 'allowed', 'flat'],
    ...rows.map(({ name, third, last, most, isFlat }) => [
      name,
      digits(third),
      digits(last),
      digits(most),
      isFlat ? 'yes' : 'NO',
    ]),
  ])
}
