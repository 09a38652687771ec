import { ApiError } from './errors.js'

/** The query of a request: what was given, by name. */
export interface Query {
  /**
   * The value of a parameter, undefined where it is absent, empty or the text `undefined`.
   * @throws ApiError invalid_request when it is given more than once
   */
  get(name: string): string | undefined
}

const NO_QUERY: Query = { get: () => undefined }

const isGiven = (value: string): boolean => value !== '' && value !== 'undefined'

/** Reads the query of a request's URL. Parameters nobody asks for are never looked at. */
export function parseQuery(url: string): Query {
  const start = url.indexOf('?')
  if (start === -1 || start === url.length - 1) return NO_QUERY
  const params = new URLSearchParams(url.slice(start + 1))
  return {
    get(name) {
      const values = params.getAll(name).filter(isGiven)
      if (values.length > 1) throw new ApiError('invalid_request', `The parameter ${name} is given more than once.`)
      return values[0]
    },
  }
}

/** Whether a request selects the testnet: `testnet=true`, exactly. */
export const isTestnet = (query: Query): boolean => query.get('testnet') === 'true'

/**
 * A whole number of a query, undefined where it is absent. Any number of digits is read, up to 2^53.
 * @throws ApiError invalid_request for signs, fractions, exponents, anything else
 */
export function integerOf(query: Query, name: string): number | undefined {
  const text = query.get(name)
  if (text === undefined) return undefined
  if (!/^[0-9]{1,400}$/.test(text))
    throw new ApiError('invalid_request', `The parameter ${name} is not a whole number.`)
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

/** One of a few words of a query, undefined where it is absent. @throws ApiError invalid_request */
export function wordOf<T extends string>(query: Query, name: string, words: readonly T[]): T | undefined {
  const text = query.get(name)
  if (text === undefined) return undefined
  const word = words.find((candidate) => candidate === text)
  if (!word) throw new ApiError('invalid_request', `The parameter ${name} is none of ${words.join(', ')}.`)
  return word
}
