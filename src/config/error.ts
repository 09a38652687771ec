import { z } from 'zod'

/**
 * The given configuration, options or files do not allow the command to run. The message is for the operator. Errors of
 * schemas name each wrong field.
 */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/**
 * Validates an input by its schema.
 * @param where names the input in the error
 * @param nameOf how the error names a field
 * @throws ConfigError with one line per wrong field
 */
export function parseConfigInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  where: string,
  nameOf = (field: string): string => field,
): z.output<Schema> {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  throw combinedConfigError(
    parsed.error.issues.map(
      ({ path, message }) => `${nameOf(z.core.toDotPath(path)) || 'the content'}: ${message}`,
    ),
    where,
  )
}

/** Creates one error with a line for each fault. @param where names the input */
export const combinedConfigError = (faults: readonly string[], where: string): ConfigError =>
  new ConfigError(
    faults.length === 1
      ? `In ${where}, ${faults[0]}.`
      : `In ${where}:${faults.map((fault) => `\n  ${fault}`).join('')}`,
  )
