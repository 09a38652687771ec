import type { ChainTx, SolanaTx } from '../chain.js'
import type { Call, Nodes } from './nodes.js'

/** A hash that no chain knows is asked for again within seconds: its transaction may be on its way. */
const UNKNOWN_MS = 2_000
const SEEN_MS = 1_000
/** Confirmed facts stay, whatever a node says later; a rewind may still change them. */
const CONFIRMED_MS = 60_000

/** Bounds on the transactions whose state is kept. */
export const SIGHTINGS = {
  forMs(seen: ChainTx | SolanaTx): number {
    if (seen.state === 'unknown') return UNKNOWN_MS
    return isFinal(seen) ? CONFIRMED_MS : SEEN_MS
  },
  most: 10_000,
}

type Included = Extract<ChainTx | SolanaTx, { isConfirmed: boolean }>
const isIncluded = (seen: ChainTx | SolanaTx): seen is Included => 'isConfirmed' in seen
/** Tells whether a sighting makes a status terminal. */
const isFinal = (seen: ChainTx | SolanaTx): seen is Included =>
  isIncluded(seen) && seen.isConfirmed && !seen.isRegistration
const placeOf = (seen: Included): number => (seen.state === 'mined' ? seen.block : seen.slot)

/** Looks at a transaction: what would make a status terminal is unconfirmed where another node contradicts it. */
export const twiceSeen = <T extends ChainTx | SolanaTx>(
  rpc: Pick<Nodes, 'onOneNode' | 'onAnotherNode'>,
  look: (call: Call) => Promise<T>,
): Promise<T> =>
  rpc.onOneNode(async (call) => {
    const seen = await look(call)
    const other = isFinal(seen) ? await rpc.onAnotherNode(call, look) : null
    // a node may have forgotten the transaction
    if (!isFinal(seen) || other === null || other.state === 'unknown') return seen
    const isSame = isIncluded(other) && placeOf(other) === placeOf(seen) && other.succeeded === seen.succeeded
    return isSame && !other.isRegistration ? seen : { ...seen, isConfirmed: false }
  })

/** Bounds on the balances that are kept. */
export const BALANCES = { forMs: () => 3_000, most: 10_000 }
