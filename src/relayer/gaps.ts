import type { SignerNonces } from '../db/outbox/signers.js'

/**
 * Largest rise of the next nonce without an operator's confirmation. A larger rise means that the key was used
 * elsewhere, or that a node is repeatedly wrong.
 */
export const MAX_NONCE_RAISE = 64
/** Maximum number of lost nonces per step, since a node may report any nonce. */
export const MAX_LOST_NONCES = 64

/** A node's transaction count for the signer, with the node's head at that time. */
export interface NonceCountReport {
  count: number
  head: number
}

/** The first lost nonce, and since when it has been missing. */
export interface MissingNonce {
  first: number
  sinceMs: number
}

/** Decision about the signer's next nonce, from the transaction counts that nodes report. */
export type NonceDecision =
  /** Every nonce below the signer's next nonce is used or held, so the next nonce may be given out. */
  | { kind: 'sound' }
  /**
   * No nonce is given out: either a second observation is needed for comparison with `observed`, or lost nonces have
   * to be repaired.
   */
  | { kind: 'undecided'; observed: NonceCountReport }
  /** Two observations agree that the next nonce is not the stored one. */
  | { kind: 'changed'; next: number }
  /** Two observations agree on a count that an operator has to confirm. */
  | { kind: 'too_far'; count: number; observed: NonceCountReport }

/**
 * Decides about the next nonce. A change needs two observations, from two nodes or from one node at two heads, because
 * a mix-up of answers does not repeat. The next nonce rises to the lower of two higher counts, up to a bound. It falls
 * to the higher of two lower counts, if no job holds a nonce from that count on. So a single wrong answer never makes a
 * gap, which costs a transaction for each of its nonces.
 * @param observations observations of the chain's count in this step
 * @param before the undecided observation of an earlier step
 */
export function decideNonce(
  { next, top, holders }: SignerNonces,
  observations: readonly NonceCountReport[],
  before: NonceCountReport | null,
): NonceDecision {
  const counts = observations.map(({ count }) => count)
  const least = Math.min(...counts)
  const most = Math.max(...counts)
  if (next !== null && least <= next && most >= next) return { kind: 'sound' }
  const [first, second = before && first!.head > before.head ? before : undefined] = observations
  const pair = second && [first!.count, second.count]
  // if observations contradict each other, only the newest is kept, so that a wrong observation is not kept for long
  const undecided = {
    kind: 'undecided',
    observed: pair || !before ? observations[0]! : before,
  } as const
  if (next === null || least > next) {
    if (!pair) return undecided
    const agreed = Math.min(...pair)
    if (next === null) return { kind: 'changed', next: agreed }
    if (agreed <= next) return undecided
    return agreed - next > MAX_NONCE_RAISE
      ? { kind: 'too_far', count: agreed, observed: before ?? observations[0]! }
      : { kind: 'changed', next: agreed }
  }
  const held = new Set(
    holders.map(({ nonce }) => nonce).filter((nonce) => nonce >= most && nonce < next),
  )
  if (held.size === next - most) return { kind: 'sound' }
  const agreed = pair ? Math.max(...pair) : null
  const isUnheld = agreed !== null && agreed < next && (top === null || top < agreed)
  return isUnheld ? { kind: 'changed', next: agreed } : undecided
}

/**
 * Nonces that no unfinished job holds, from the chain's transaction count (`used`) to the last one before the signer's
 * next nonce (`next`). Only the first `MAX_LOST_NONCES` are returned.
 */
export function findLostNonces(
  used: number,
  next: number,
  holders: SignerNonces['holders'],
): number[] {
  const live = new Set(
    holders.filter(({ state }) => state !== 'confirmed').map(({ nonce }) => nonce),
  )
  const lost: number[] = []
  for (let nonce = used; nonce < next && lost.length < MAX_LOST_NONCES; nonce++)
    if (!live.has(nonce)) lost.push(nonce)
  return lost
}

/**
 * The first lost nonce and the time since which it has been missing. This time is `nowMs` if the first lost nonce is
 * not that of `before`, or if the clock was set back. Null where no nonce is lost.
 */
export function missingNonceSince(
  before: MissingNonce | null,
  lost: readonly number[],
  nowMs: number,
): MissingNonce | null {
  const [first] = lost
  if (first === undefined) return null
  return before?.first === first && before.sinceMs <= nowMs ? before : { first, sinceMs: nowMs }
}
