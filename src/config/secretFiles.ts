import { closeSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import type { z } from 'zod'
import { ConfigError } from './error.js'

/**
 * Marks the schema of a variable whose value is a secret. The value may be in a file that `<variable>_FILE` names.
 * @param otherNames other variables that name the file
 */
export const markAsSecret = <Schema extends z.ZodType>(
  schema: Schema,
  ...otherNames: string[]
): Schema => schema.meta({ otherNames })

/** Names of the variables that may name a secret's file; empty for a variable that is not a secret. */
function fileVariablesOf(variable: string, schema: z.ZodType): readonly string[] {
  const { otherNames } = (schema.meta() ?? {}) as { otherNames?: readonly string[] }
  return otherNames ? [`${variable}_FILE`, ...otherNames] : []
}

/**
 * Reads secrets from their files, and trims them.
 * @param shape schemas of all variables
 * @param set variables that are set
 * @returns `values`: the variables including the secrets; `nameOf`: adds the path of its file to the name of a
 * variable, for error messages
 * @throws ConfigError where a file can not be read, or a secret is set twice
 */
export function readSecretFiles(
  shape: Readonly<Record<string, z.ZodType>>,
  set: Readonly<Record<string, string | undefined>>,
) {
  const values = { ...set }
  const names = new Map<string, string>()
  for (const [variable, schema] of Object.entries(shape)) {
    const sources = fileVariablesOf(variable, schema).filter((name) => set[name] !== undefined)
    const [source, second] = set[variable] === undefined ? sources : [variable, ...sources]
    if (source !== undefined && second !== undefined)
      throw new ConfigError(`${source} and ${second} exclude one another: set one.`)
    if (source === undefined || source === variable) continue
    const file = set[source]!
    values[variable] = readSecretFile(file, source).trim()
    names.set(variable, `${variable} of ${source} (${resolve(file)})`)
  }
  const nameOf = (field: string): string => field.replace(/^\w+/, (name) => names.get(name) ?? name)
  return { values, nameOf }
}

/** Maximum size of a secret's file, bytes. Keys, keystores and passwords are far shorter. */
const MAX_SECRET_BYTES = 65_536

/**
 * Content of a secret's file.
 * @param variable name of the variable that has the file's path
 * @throws ConfigError where the file can not be read or is too long
 */
export function readSecretFile(file: string, variable: string): string {
  let bytes: Buffer
  try {
    bytes = readFirstBytes(file, MAX_SECRET_BYTES + 1)
  } catch (error) {
    throw new ConfigError(
      `${variable}: ${resolve(file)} can not be read (${(error as NodeJS.ErrnoException).code}).`,
    )
  }
  if (bytes.length > MAX_SECRET_BYTES)
    throw new ConfigError(
      `${variable}: ${resolve(file)} holds more than ${MAX_SECRET_BYTES} bytes, and no secret does.`,
    )
  return bytes.toString('utf8')
}

function readFirstBytes(file: string, limit: number): Buffer {
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
