/**
 * Names of clusters and of wallets: up to `NAME_MAX_BYTES` of `[a-z0-9_-]`. On chain a name is its ASCII bytes,
 * left-aligned in a bytes32 and zero-filled, so no name can be longer. Input is lower-cased by ASCII rules only: no
 * Unicode folding, so a look-alike can't slip in.
 */
export const NAME_MAX_BYTES = 32
const NAME_RULE = `1 to ${NAME_MAX_BYTES} characters of a-z, 0-9, _ and -`
export const DEFAULT_WALLET_NAME = 'main'

/** A canonical name. */
export const NAME = new RegExp(`^[a-z0-9_-]{1,${NAME_MAX_BYTES}}$`)
const ANY_CASE = new RegExp(`^[A-Za-z0-9_-]{1,${NAME_MAX_BYTES}}$`)

/** The canonical form of a cluster or wallet name as a user wrote it, or null when it is not one. */
export const parseName = (input: string): string | null => (ANY_CASE.test(input) ? input.toLowerCase() : null)

/** A cluster name as it is read in paths and lists: `foobar`, `foobar/` and `FooBar` are the same name. */
export const parseClusterName = (input: string): string | null =>
  parseName(input.endsWith('/') ? input.slice(0, -1) : input)

export interface FullName {
  cluster: string
  /** null for the cluster-only forms `foo` and `foo/`. */
  wallet: string | null
}

/** `foo`, `foo/` or `foo/main` taken apart, or null when malformed. */
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

/** The bytes32 word of a canonical name. Throws RangeError for anything that is not one. */
export function nameToWord(name: string): Buffer {
  if (!NAME.test(name)) throw new RangeError(`"${name}" is not a name of ${NAME_RULE}`)
  const word = Buffer.alloc(NAME_MAX_BYTES)
  word.write(name)
  return word
}

/**
 * The name in a bytes32 word, or null when the word is not a well-formed name (a watched or refused bid may carry any
 * bytes).
 */
export function wordToName(word: Buffer): string | null {
  let length = 0
  for (; length < NAME_MAX_BYTES; length++) {
    const byte = word[length]!
    if (byte === 0) break
    // a-z, 0-9, '-' and '_': judged by byte, since this runs once a log
    if (!((byte >= 97 && byte <= 122) || (byte >= 48 && byte <= 57) || byte === 45 || byte === 95)) return null
  }
  if (length === 0) return null
  for (let i = length; i < NAME_MAX_BYTES; i++) if (word[i] !== 0) return null
  return word.toString('latin1', 0, length)
}

/** The name itself if it is free, else the first free of `name-2`, `name-3`, …; cut so that it stays a name. */
export function numberedName(name: string, isTaken: (candidate: string) => boolean): string {
  let candidate = name
  for (let n = 2; isTaken(candidate); n++) {
    const suffix = `-${n}`
    candidate = name.slice(0, NAME_MAX_BYTES - suffix.length) + suffix
  }
  return candidate
}
