/** A line of an env file that programs read differently. No field has the variable's value, which may be a secret. */
interface EnvFileFault {
  /** Number of the line, from 1. */
  line: number
  /** Name of the variable, null where the line has none. */
  variable: string | null
  found: string
  remedy: string
}

const QUOTE_REMEDY = 'Put the value in single quotes.'
const REPLACE_REMEDY =
  'Choose another value, or write a secret into a file that <variable>_FILE names.'
const SAVE_REMEDY = 'Save the file as UTF-8 without a byte order mark, with line ends of Unix (LF).'

const OPEN_QUOTE_PATTERN = /^(['"`])(?:(?!\1).)*$/
/** Faults of values. The first pattern that matches a value names its fault. */
const ENV_VALUE_FAULTS: readonly (readonly [value: RegExp, found: string, remedy: string])[] = [
  [OPEN_QUOTE_PATTERN, 'begins with a quote that does not end on this line', REPLACE_REMEDY],
  [
    /\\'$/,
    'has a backslash before its last quote, which Docker Compose goes on after',
    REPLACE_REMEDY,
  ],
  [/\s#/, 'has a comment after the value, which systemd takes into it', 'Give it its own line.'],
  [/#/, 'has a #, where Node begins a comment, and systemd does not', QUOTE_REMEDY],
  [/\$/, 'has a $, where Docker Compose fills in a variable', QUOTE_REMEDY],
  [/\\/, 'has a backslash, which systemd or Docker Compose leaves out', QUOTE_REMEDY],
  [/^["'`]/, 'begins with a quote that not every reader removes', QUOTE_REMEDY],
]
/** Matches a quoted value that all programs read in the same way. */
const QUOTED_VALUE_PATTERN = /^(?:'(?:[^']*[^'\\])?'|"[^"\\$]*")$/

const ENV_LINE_PATTERN = /^(export\s+)?([A-Za-z_]\w{0,63})(\s*)=(\s*)(.*)$/

/**
 * Finds the lines of an env file that Node (`process.loadEnvFile`), systemd (`EnvironmentFile`) and Docker Compose
 * (`env_file`, `.env`) may read differently. A file without faults means the same to all three.
 */
export function findEnvFileFaults(text: string): EnvFileFault[] {
  const faults: EnvFileFault[] = []
  const lines = text.replace(/^\ufeff/, '').split('\n')
  const add = (i: number, variable: string | null, problem: string, remedy: string): void =>
    void faults.push({ line: i + 1, variable, found: problem, remedy })

  if (text.startsWith('\ufeff')) add(0, null, 'begins with a byte order mark', SAVE_REMEDY)
  const returned = lines.findIndex((line) => line.endsWith('\r'))
  if (returned !== -1)
    add(returned, null, 'ends with a carriage return, which not every reader drops', SAVE_REMEDY)
  const lineOf = new Map<string, number>()
  for (let i = 0; i < lines.length; i++) {
    const started = lines[i]!.trimStart()
    const line = started.trimEnd()
    const isComment = line.startsWith('#')
    if (isComment && line.endsWith('\\'))
      add(i, null, 'is a comment that systemd continues on the next line', 'Remove its backslash.')
    if (isComment || line === '') continue
    const [, exported, name, before, after, value = ''] = ENV_LINE_PATTERN.exec(line) ?? []
    if (name === undefined) {
      add(i, null, 'is not of the form NAME=value', 'Begin a comment with #.')
      continue
    }
    const earlier = lineOf.get(name)
    lineOf.set(name, i)
    const fault = QUOTED_VALUE_PATTERN.test(value)
      ? undefined
      : ENV_VALUE_FAULTS.find(([form]) => form.test(value))
    if (exported) add(i, name, 'begins with export, which systemd does not know', 'Remove export.')
    // Node, from version 22 on, takes the next line as the value of `A= `
    else if (before || after || (value === '' && line !== started))
      add(i, name, 'has blanks beside the =, which not every reader drops', 'Remove them.')
    else if (earlier !== undefined)
      add(i, name, `is also set on line ${earlier + 1}`, 'Keep one of the two.')
    else if (fault) add(i, name, fault[1], fault[2])

    // the lines up to the closing quote belong to this value
    const quote = OPEN_QUOTE_PATTERN.exec(value)?.[1]
    const end = quote ? lines.findIndex((next, n) => n > i && next.includes(quote)) : -1
    if (end !== -1) i = end
  }
  return faults
}
