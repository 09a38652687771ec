import type { Job } from '../registry/outbox.js'

/** The first lost nonce, and since when it is missing. */
export interface Missing {
  first: number
  sinceMs: number
}

/** Nonces from the chain's count up to the next that no job under way holds. */
export function lostNonces(used: number, next: number, holders: readonly Pick<Job, 'state' | 'nonce'>[]): number[] {
  const live = new Set(holders.filter(({ state }) => state !== 'confirmed').map(({ nonce }) => nonce))
  const nonces = Array.from({ length: Math.max(0, next - used) }, (_, i) => used + i)
  return nonces.filter((nonce) => !live.has(nonce))
}

/** A gap counts anew when its first nonce changes. */
export function missingSince(before: Missing | null, lost: readonly number[], nowMs: number): Missing | null {
  const [first] = lost
  if (first === undefined) return null
  return before?.first === first ? before : { first, sinceMs: nowMs }
}
