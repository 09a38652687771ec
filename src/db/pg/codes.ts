import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'

/** Numbers that represent states, kinds and the like in the database, by name. Never renumber them. */
export type DatabaseCodes<Word extends string = string> = Readonly<Record<Word, number>>

/** First key of the advisory locks: "clus" in ASCII. */
const ADVISORY_LOCK_CLASS = 0x636c7573
/** Purposes of a network's advisory locks. Never renumber. */
const ADVISORY_LOCK_PURPOSE = { rewind: 2, load: 3, replay: 4 } as const

export const advisoryLockKeys = (
  network: Network,
  purpose: keyof typeof ADVISORY_LOCK_PURPOSE,
): [number, number] => [
  ADVISORY_LOCK_CLASS,
  NETWORK_CODE[network] * 16 + ADVISORY_LOCK_PURPOSE[purpose],
]

/** Returns the name of the state, kind or the like that a stored number represents. @throws RangeError if unknown */
export function nameOfCode<Word extends string>(codes: DatabaseCodes<Word>, code: number): Word {
  for (const word in codes) if (codes[word] === code) return word
  throw new RangeError(
    `the database holds ${code} where one of ${Object.keys(codes).join(', ')} belongs`,
  )
}

/** SQL: a list of numbers, without parentheses: `state IN (${codeListSql(STATE, 'queued', 'parked')})`. */
export function codeListSql<Word extends string>(
  codes: DatabaseCodes<Word>,
  ...words: Word[]
): string {
  return words.map((word) => codes[word]).join(', ')
}
