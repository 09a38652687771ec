import { ApiError } from './errors.js'

/** True if a value counts as absent: empty, null, or the text `undefined`. */
export const isAbsentParameter = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === 'undefined'

/** Query parameters of a request. */
export interface RequestQuery {
  /**
   * Value of a parameter; undefined where it is absent, empty or the text `undefined`. @throws ApiError
   * invalid_request for repeated parameters
   */
  get(name: string): string | undefined
}

const NO_QUERY: RequestQuery = { get: () => undefined }

/** Parses the query of a URL. Unknown parameters are ignored. */
export function parseQuery(url: string): RequestQuery {
  const start = url.indexOf('?')
  if (start === -1 || start === url.length - 1) return NO_QUERY
  const params = new URLSearchParams(url.slice(start + 1))
  return {
    get(name) {
      const values = params.getAll(name).filter((value) => !isAbsentParameter(value))
      if (values.length > 1)
        throw new ApiError('invalid_request', `The parameter ${name} is given more than once.`)
      return values[0]
    },
  }
}

/** True if a request selects the testnet, with exactly `testnet=true`. */
export const selectsTestnet = (query: RequestQuery): boolean => query.get('testnet') === 'true'

/**
 * A whole number in a query, clamped to 2^53 − 1; undefined where it is absent.
 * @throws ApiError invalid_request for signs, fractions, exponents and any other text
 */
export function wholeNumberParameter(query: RequestQuery, name: string): number | undefined {
  const text = query.get(name)
  if (text === undefined) return undefined
  if (!/^[0-9]{1,400}$/.test(text))
    throw new ApiError('invalid_request', `The parameter ${name} is not a whole number.`)
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

/** Default and maximum number of items per page. */
export interface PageLimitBounds {
  default: number
  max: number
}

/** Number of items per page: as requested, at most `bounds.max`. @throws ApiError invalid_request, also for 0 */
export function pageLimitOf(query: RequestQuery, bounds: PageLimitBounds): number {
  const limit = wholeNumberParameter(query, 'limit') ?? bounds.default
  if (limit === 0) throw new ApiError('invalid_request', 'The parameter limit is less than 1.')
  return Math.min(limit, bounds.max)
}

/** A parameter with one of the allowed values; undefined where it is absent. @throws ApiError invalid_request */
export function enumParameter<T extends string>(
  query: RequestQuery,
  name: string,
  allowed: readonly T[],
): T | undefined {
  const text = query.get(name)
  if (text === undefined) return undefined
  const value = allowed.find((candidate) => candidate === text)
  if (!value)
    throw new ApiError(
      'invalid_request',
      `The parameter ${name} has to be one of ${allowed.join(', ')}.`,
    )
  return value
}
