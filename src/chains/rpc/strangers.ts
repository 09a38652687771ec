import type { ChainTx, SolanaTx } from '../chain.js'

/** A hash that no chain knows is asked for again within seconds: its transaction may be on its way. */
const UNKNOWN_MS = 2_000
const SEEN_MS = 1_000
/** What is confirmed stays, whatever a node says later; a rewind may still change it. */
const CONFIRMED_MS = 60_000

/** Bounds on the transactions whose state is kept. */
export const SIGHTINGS = {
  forMs(seen: ChainTx | SolanaTx): number {
    if (seen.state === 'unknown') return UNKNOWN_MS
    const isFinal = seen.state !== 'mempool' && seen.isConfirmed && !seen.isRegistration
    return isFinal ? CONFIRMED_MS : SEEN_MS
  },
  most: 10_000,
}
/** Bounds on the balances that are kept. */
export const BALANCES = { forMs: () => 3_000, most: 10_000 }
