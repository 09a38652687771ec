import { OUTCOME } from '../../registry/journal/bid.js'

/** Words that the database stores as numbers, so that no digit stands in SQL. Never renumber. */
export type Codes<Word extends string = string> = Readonly<Record<Word, number>>

/** `names.outcome` of the bid that holds its name. */
export const WON = OUTCOME.won

export const DELIVERY_KIND = { verify: 1, execute: 2, fill: 3, deliver: 4, refuse: 5 } as const
export const DELIVERY_STATE = { queued: 0, signed: 1, sent: 2, included: 3, confirmed: 4, parked: 5 } as const
export const PAYOUT_KIND = { settle: 1, refund: 2, refuse: 3 } as const
export const PAYOUT_STATE = { queued: 0, signed: 1, sent: 2, confirmed: 3, parked: 4 } as const
/** `open`: the distributor is watched. `ended`: no claim can come any more. */
export const AIRDROP_STATE = { loaded: 0, open: 1, ended: 2 } as const
export type AirdropState = keyof typeof AIRDROP_STATE

/** The word of a stored number. @throws RangeError where the number stands for none */
export function wordOf<Word extends string>(codes: Codes<Word>, code: number): Word {
  for (const word in codes) if (codes[word] === code) return word
  throw new RangeError(`the database holds ${code} where one of ${Object.keys(codes).join(', ')} belongs`)
}

/** Numbers for an SQL list: `state IN (${codeList(STATE, 'queued', 'parked')})`. */
export function codeList<Word extends string>(codes: Codes<Word>, ...words: Word[]): string {
  return words.map((word) => codes[word]).join(', ')
}
