import type { ChainTx, MinedTx, PaymentTx } from '../chain.js'
import { LackingError } from './errors.js'
import { type Call, type Nodes, orIfUndecided } from './nodes.js'

/** A hash that no chain knows is asked for again within seconds: its transaction may be on its way. */
const UNKNOWN_MS = 2_000
const SEEN_MS = 1_000
/** Confirmed facts stay, whatever a node says later; a rewind may still change them. */
const CONFIRMED_MS = 60_000

/** Bounds on the transactions whose state is kept. */
export const SIGHTINGS = {
  forMs(seen: ChainTx | PaymentTx): number {
    if (seen.state === 'unknown') return UNKNOWN_MS
    return isFinal(seen) ? CONFIRMED_MS : SEEN_MS
  },
  most: 10_000,
}

/** True if a sighting makes a status terminal. */
const isFinal = (seen: ChainTx | PaymentTx): seen is Extract<ChainTx | PaymentTx, MinedTx> =>
  seen.state === 'mined' && seen.isConfirmed && !seen.isRegistration

const isSame = <T extends ChainTx | PaymentTx>(a: T, b: T): boolean =>
  a.state === 'mined' &&
  b.state === 'mined' &&
  a.block === b.block &&
  a.succeeded === b.succeeded &&
  a.isRegistration === b.isRegistration

/** A terminal status stays unconfirmed while two nodes contradict each other. */
export async function twiceSeen<T extends ChainTx | PaymentTx>(
  rpc: Pick<Nodes, 'onOneNode' | 'quorum'>,
  look: (call: Call) => Promise<T>,
): Promise<T> {
  const seen = await rpc.onOneNode(look)
  if (!isFinal(seen)) return seen
  const known = async (call: Call): Promise<T> => {
    const other = await look(call)
    // a node may have forgotten the transaction
    if (other.state === 'unknown') throw new LackingError('the node does not know the transaction')
    return other
  }
  return orIfUndecided(rpc.quorum(known, isSame), { ...seen, isConfirmed: false })
}

/** Bounds on the balances that are kept. */
export const BALANCES = { forMs: () => 3_000, most: 10_000 }
