import { parseClusterName } from '../../registry/primitives/name.js'
import { ApiError, type ErrorDetail } from '../http/errors.js'

const NAME_RULE = 'A name is 1 to 32 characters of a-z, 0-9, _ and -.'

/** A cluster name of a request in its canonical form. @throws ApiError invalid_name */
export function requireName(input: string): string {
  const name = parseClusterName(input)
  if (name === null) throw new ApiError('invalid_name', NAME_RULE)
  return name
}

/**
 * Reads every name of a list with the same rule, and tells all that are malformed.
 * @param pathOf where the i-th stands in the request
 * @throws ApiError invalid_name
 */
export function requireNames<T>(
  inputs: readonly string[],
  read: (input: string) => T | null,
  pathOf: (index: number) => string,
): T[] {
  const details: ErrorDetail[] = []
  const names: T[] = []
  inputs.forEach((input, index) => {
    const name = read(input)
    if (name !== null) names.push(name)
    else if (details.length < 20) details.push({ path: pathOf(index), message: NAME_RULE })
  })
  if (details.length > 0) throw new ApiError('invalid_name', NAME_RULE, { details })
  return names
}
