import type { SignerNonces } from '../db/outbox/signers.js'

/** Question to an operator: a key that was used so often elsewhere, or a node that is wrong again and again. */
export const MAX_RAISE = 64
/** Bounds the work of one step, whatever a node says. */
export const MAX_LOST = 64

/** An answer about the chain's count, and the head of its node's chain when it was given. */
export interface Report {
  answer: number
  head: number
}

/** The first lost nonce, and since when it is missing. */
export interface Missing {
  first: number
  sinceMs: number
}

/** Meaning of the chain's count for the next nonce. */
export type NonceDecision =
  /** Every nonce below the next is used or held: one may be given. */
  | { is: 'sound' }
  /** No nonce is given: a second look is due, to be compared with this one, or lost nonces have to be mended. */
  | { is: 'doubt'; look: Report }
  /** The next nonce follows what two looks agree about. */
  | { is: 'moved'; next: number }
  /** Two looks agree about a count that only an operator believes. */
  | { is: 'too_far'; count: number; look: Report }

/**
 * Decides about the next nonce. Two looks are those of two nodes, or of one at two heads: a mix-up of answers does not
 * last. A count above it is believed after two looks, the lower one, up to a bound; a stored
 * number above the count is taken back after two looks, to the higher one, while no job holds a nonce from there on.
 * One wrong answer thus makes no gap, which would cost a transaction for each of its nonces.
 * @param looks at the chain's count, of one step
 * @param before the look of an earlier step that was in doubt
 */
export function decideNonce(
  { next, top, holders }: SignerNonces,
  looks: readonly Report[],
  before: Report | null,
): NonceDecision {
  const counts = looks.map(({ answer }) => answer)
  const least = Math.min(...counts)
  const most = Math.max(...counts)
  if (next !== null && least <= next && most >= next) return { is: 'sound' }
  const [first, second = before && first!.head > before.head ? before : undefined] = looks
  const pair = second && [first!.answer, second.answer]
  // looks that contradict each other leave the newest, else a wrong one would stay
  const doubt = { is: 'doubt', look: pair || !before ? looks[0]! : before } as const
  if (next === null || least > next) {
    if (!pair) return doubt
    const agreed = Math.min(...pair)
    if (next === null) return { is: 'moved', next: agreed }
    if (agreed <= next) return doubt
    return agreed - next > MAX_RAISE
      ? { is: 'too_far', count: agreed, look: before ?? looks[0]! }
      : { is: 'moved', next: agreed }
  }
  const held = new Set(
    holders.map(({ nonce }) => nonce).filter((nonce) => nonce >= most && nonce < next),
  )
  if (held.size === next - most) return { is: 'sound' }
  const agreed = pair ? Math.max(...pair) : null
  const isUnheld = agreed !== null && agreed < next && (top === null || top < agreed)
  return isUnheld ? { is: 'moved', next: agreed } : doubt
}

/** From the chain's count up to the next, without those that a job under way holds; `MAX_LOST` at most. */
export function lostNonces(used: number, next: number, holders: SignerNonces['holders']): number[] {
  const live = new Set(
    holders.filter(({ state }) => state !== 'confirmed').map(({ nonce }) => nonce),
  )
  const lost: number[] = []
  for (let nonce = used; nonce < next && lost.length < MAX_LOST; nonce++)
    if (!live.has(nonce)) lost.push(nonce)
  return lost
}

/** A gap counts anew when its first nonce changes, or the clock was set back. */
export function missingSince(
  before: Missing | null,
  lost: readonly number[],
  nowMs: number,
): Missing | null {
  const [first] = lost
  if (first === undefined) return null
  return before?.first === first && before.sinceMs <= nowMs ? before : { first, sinceMs: nowMs }
}
