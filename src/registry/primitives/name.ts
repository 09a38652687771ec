import { toHex } from './bytes.js'
import { isCanonicalName, NAME_MAX_BYTES, NAME_RULES_TEXT, parseName } from './nameRule.js'

export const DEFAULT_WALLET_NAME = 'main'

/** Text of a cluster's name without the slash at its end. */
export const withoutTrailingSlash = (input: string): string =>
  input.endsWith('/') ? input.slice(0, -1) : input

/** Canonical cluster name of a text in paths and lists: `foobar`, `foobar/` and `FooBar` give the same name. */
export const parseClusterName = (input: string): string | null =>
  parseName(withoutTrailingSlash(input))

/** Name of a cluster, or of a wallet in a cluster: `foo` or `foo/main`. */
export interface FullName {
  cluster: string
  /** Name of the wallet. Null for `foo` and `foo/`, which name only a cluster. */
  wallet: string | null
}

/** Parts of `foo`, `foo/` or `foo/main`, null for a malformed name. */
export function parseFullName(input: string): FullName | null {
  const slash = input.indexOf('/')
  if (slash === -1 || slash === input.length - 1) {
    const cluster = parseClusterName(input)
    return cluster === null ? null : { cluster, wallet: null }
  }
  const cluster = parseName(input.slice(0, slash))
  const wallet = parseName(input.slice(slash + 1))
  return cluster === null || wallet === null ? null : { cluster, wallet }
}

/** Word (bytes32) of a canonical name. @throws RangeError for any other text */
export function nameToWord(name: string): Buffer {
  if (!isCanonicalName(name)) throw new RangeError(`"${name}" is not a name of ${NAME_RULES_TEXT}`)
  const word = Buffer.alloc(NAME_MAX_BYTES)
  word.write(name)
  return word
}

/** Name in a bytes32 word, null for a malformed name (a refused bid may have any bytes). */
export function wordToName(word: Buffer): string | null {
  const zero = word.indexOf(0)
  const length = zero === -1 ? word.length : zero
  const name = word.toString('latin1', 0, length)
  if (!isCanonicalName(name)) return null
  for (let i = length; i < NAME_MAX_BYTES; i++) if (word[i] !== 0) return null
  return name
}

/** Name in a bytes32 word; a malformed word in hex. */
export const nameWordText = (word: Buffer): string => wordToName(word) ?? toHex(word)

/** First free name of `name`, `name-2`, `name-3`, …, cut to the maximum length. */
export function firstFreeName(name: string, isTaken: (candidate: string) => boolean): string {
  let candidate = name
  for (let n = 2; isTaken(candidate); n++) {
    const suffix = `-${n}`
    candidate = name.slice(0, NAME_MAX_BYTES - suffix.length) + suffix
  }
  return candidate
}
