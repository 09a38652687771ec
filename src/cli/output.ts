import { styleText } from 'node:util'

type Style = 'bold' | 'dim' | 'green' | 'cyan' | 'yellow'

/** Colours text on a terminal; plain text for a file or pipe. */
export function paint(style: Style, text: string): string {
  return process.stdout.isTTY ? styleText(style, text) : text
}

/** Option of every command that prints data. */
export const JSON_OPTION = ['--json', 'as JSON'] as const

export const printJson = (value: unknown): void => console.log(JSON.stringify(value, null, 2))

/** Aligns columns; the first row defines their number. */
export function table(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Rounds a duration to its largest unit: 45 s, 12 min, 3 h, 2 d. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`
  return seconds < 86_400 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`
}

/** An error in words. One of several attempts to connect has none itself, and Prisma's ends with the sentence. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name.startsWith('Prisma')) return error.message.trim().split('\n').at(-1)!
  if (error.message !== '') return error.message
  return error instanceof AggregateError && error.errors.length > 0 ? messageOf(error.errors[0]) : error.name
}
