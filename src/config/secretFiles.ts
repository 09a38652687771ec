import { closeSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import type { z } from 'zod'
import { ConfigError } from './error.js'

/** Variables of files, beside `<variable>_FILE`, by the schema of their secret. */
const otherNames = new WeakMap<z.ZodType, readonly string[]>()

/**
 * Marks the schema of a variable whose value is a secret: a file may hold the value in place of the environment, and
 * `<variable>_FILE` names the file.
 * @param names other variables that name the file
 */
export function secret<Schema extends z.ZodType>(schema: Schema, ...names: string[]): Schema {
  otherNames.set(schema, names)
  return schema
}

/** Names of the variables that may name the file of a secret; none for a variable that is not a secret. */
function fileVariables(variable: string, schema: z.ZodType): readonly string[] {
  const others = otherNames.get(schema)
  return others ? [`${variable}_FILE`, ...others] : []
}

/**
 * Reads the secrets that files hold, without blanks around them.
 * @param shape schemas of all variables
 * @param set variables that are set
 * @returns the variables with the secrets among them, and how errors name a variable: with its file, if it has one
 * @throws ConfigError where a file can not be read, or where a secret is set twice
 */
export function withSecretFiles(
  shape: Readonly<Record<string, z.ZodType>>,
  set: Readonly<Record<string, string | undefined>>,
) {
  const values = { ...set }
  const names = new Map<string, string>()
  for (const [variable, schema] of Object.entries(shape)) {
    const sources = fileVariables(variable, schema).filter((name) => set[name] !== undefined)
    const [source, second] = set[variable] === undefined ? sources : [variable, ...sources]
    if (source !== undefined && second !== undefined)
      throw new ConfigError(`${source} and ${second} exclude one another: set one.`)
    if (source === undefined || source === variable) continue
    const file = set[source]!
    values[variable] = contentOf(file, source).trim()
    names.set(variable, `${variable} of ${source} (${resolve(file)})`)
  }
  const nameOf = (field: string): string => field.replace(/^\w+/, (name) => names.get(name) ?? name)
  return { values, nameOf }
}

/** Keys, keystores and passwords are far shorter. */
const LONGEST_BYTES = 65_536

/** @param variable that names the file @throws ConfigError also for a file that is longer than any secret */
export function contentOf(file: string, variable: string): string {
  let bytes: Buffer
  try {
    bytes = firstBytes(file, LONGEST_BYTES + 1)
  } catch (error) {
    throw new ConfigError(
      `${variable}: ${resolve(file)} can not be read (${(error as NodeJS.ErrnoException).code}).`,
    )
  }
  if (bytes.length > LONGEST_BYTES)
    throw new ConfigError(
      `${variable}: ${resolve(file)} holds more than ${LONGEST_BYTES} bytes, and no secret does.`,
    )
  return bytes.toString('utf8')
}

function firstBytes(file: string, limit: number): Buffer {
  const bytes = Buffer.alloc(limit)
  const handle = openSync(file, 'r')
  try {
    let length = 0
    let read = 0
    do {
      read = readSync(handle, bytes, length, limit - length, null)
      length += read
    } while (read > 0 && length < limit)
    return bytes.subarray(0, length)
  } finally {
    closeSync(handle)
  }
}
