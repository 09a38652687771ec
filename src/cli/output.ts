import { styleText } from 'node:util'

type TextStyle = 'bold' | 'dim' | 'green' | 'cyan' | 'yellow'

/** Styles text where stdout is a terminal. For a file or pipe the text is returned unchanged. */
export function colourText(style: TextStyle, text: string): string {
  return process.stdout.isTTY ? styleText(style, text) : text
}

/** Option of commands that print data as text by default. */
export const JSON_OPTION = ['--json', 'as JSON'] as const

/** Replacer of `JSON.stringify`. A bigint becomes decimal text, because JSON has no bigints. */
export const replaceBigintByText = (_: string, value: unknown) =>
  typeof value === 'bigint' ? value.toString() : value

/** Prints a value as JSON, bigints as decimal text. */
export const printJson = (value: unknown): void =>
  console.log(JSON.stringify(value, replaceBigintByText, 2))

/** How a list is printed: each item as JSON, or as a table row whose fields are the columns. */
interface ListForm<T> {
  json: boolean | undefined
  /** Sentence to print for an empty list. */
  none: string
  describe(item: T): object
  /** Default: the result of `describe`. */
  row?(item: T): object
}

/** Prints a list as JSON, or as a table with aligned columns. */
export function printList<T>(
  items: readonly T[],
  { json, none, describe, row = describe }: ListForm<T>,
): void {
  if (json) printJson(items.map(describe))
  else if (items.length === 0) console.log(none)
  else printTable(items.map(row))
}

function printTable(items: readonly object[]): void {
  const titles = Object.keys(items[0]!).map((title) => title.toUpperCase())
  const rows = [titles, ...items.map((item) => Object.values(item).map(valueText))]
  const widths = titles.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  for (const row of rows) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column]!))
    console.log(cells.join('  ').trimEnd())
  }
}

/** Width of the column of field names, characters. */
const FIELD_NAME_WIDTH = 12

/** Prints an object as JSON, or as text with one field per line. */
export function printFields(thing: object, json: boolean | undefined): void {
  if (json) printJson(thing)
  else
    for (const [name, value] of Object.entries(thing))
      console.log(`${name.padEnd(FIELD_NAME_WIDTH)} ${fieldText(name, value)}`)
}

/** Text of a field's value. A number in a field `…Ms` is a Unix time, and becomes a date. */
const fieldText = (name: string, value: unknown): string =>
  /Ms$/.test(name) && typeof value === 'number' ? new Date(value).toISOString() : valueText(value)

const valueText = (value: unknown): string =>
  typeof value === 'object' && value !== null
    ? JSON.stringify(value, replaceBigintByText)
    : String(value ?? '-')

/** Text of a duration, rounded to its largest unit: 45 s, 12 min, 3 h, 2 d. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`
  return seconds < 86_400 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`
}

/**
 * Message of an error. For an AggregateError without one (failed connection attempts): the message of its first error.
 */
export function errorMessageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.message !== '') return error.message
  return error instanceof AggregateError && error.errors.length > 0
    ? errorMessageOf(error.errors[0])
    : error.name
}
