import { EVM } from '../../registry/families.js'
import { BID_OUTCOME } from '../../registry/journal/bid.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'

/** Numbers that stand for words in the database. SQL texts use these constants instead of digits. Never renumber. */
export type DatabaseCodes<Word extends string = string> = Readonly<Record<Word, number>>

/** Value of `names.outcome` for the bid that holds its name. */
export const WON_BID_OUTCOME = BID_OUTCOME.won

/** Values of `leaders.role`. In each network, one process at a time leads each role. */
export const LEADER_ROLE = { index: 0, relay: 1 } as const
export type LeaderRole = keyof typeof LEADER_ROLE

/** First key of the advisory locks: "clus". */
const LOCK_CLASS = 0x636c7573
/** Purposes of a network's advisory locks. Never renumber. */
const LOCK_PURPOSE = { rewind: 2, load: 3, replay: 4 } as const

export const advisoryLockKeys = (
  network: Network,
  purpose: keyof typeof LOCK_PURPOSE,
): [number, number] => [LOCK_CLASS, NETWORK_CODE[network] * 16 + LOCK_PURPOSE[purpose]]

/** `open`: the distributor is watched. `ended`: no further claim is possible. */
export const AIRDROP_STATE = { loaded: 0, open: 1, ended: 2 } as const
export type AirdropState = keyof typeof AIRDROP_STATE

/** The word that a stored number stands for. @throws RangeError for an unknown number */
export function nameOfCode<Word extends string>(codes: DatabaseCodes<Word>, code: number): Word {
  for (const word in codes) if (codes[word] === code) return word
  throw new RangeError(
    `the database holds ${code} where one of ${Object.keys(codes).join(', ')} belongs`,
  )
}

/**
 * SQL: true for an EVM chain `c`. Its contract keeps one credit per payer, and its blocks are in the database. A Solana
 * program keeps one account per payment, and its state is read from the chain.
 */
export const IS_EVM_CHAIN_SQL = `c.family = '${EVM.key}'`

/** Numbers for an SQL list: `state IN (${codeListSql(STATE, 'queued', 'parked')})`. */
export function codeListSql<Word extends string>(
  codes: DatabaseCodes<Word>,
  ...words: Word[]
): string {
  return words.map((word) => codes[word]).join(', ')
}
