import type { ChainTx, MinedTx, PaymentTx } from '../chain.js'
import { MissingDataError } from './errors.js'
import { fallbackIfNoQuorum, type RpcCall, type RpcNodes } from './nodes.js'

/** How long the state `unknown` is cached, ms. Short, since the transaction may be on its way to the nodes. */
const UNKNOWN_STATE_MS = 2_000
/** How long the state of a known transaction is cached while it is not final, ms. */
const OPEN_STATE_MS = 1_000
/** How long a final state is cached, ms. Not for ever, since an operator's rewind may change it. */
const FINAL_STATE_MS = 60_000

/** Lifetimes (ms) of cached transaction states, and the cache's size. */
export const TX_STATE_CACHE_OPTIONS = {
  forMs(seen: ChainTx | PaymentTx): number {
    if (seen.state === 'unknown') return UNKNOWN_STATE_MS
    return isFinal(seen) ? FINAL_STATE_MS : OPEN_STATE_MS
  },
  most: 10_000,
}

/** True if this state makes the status that the API shows final: the transaction is confirmed, and registers nothing. */
const isFinal = (seen: ChainTx | PaymentTx): seen is Extract<ChainTx | PaymentTx, MinedTx> =>
  seen.state === 'mined' && seen.isConfirmed && !seen.isRegistration

const isSameMinedState = <T extends ChainTx | PaymentTx>(a: T, b: T): boolean =>
  a.state === 'mined' &&
  b.state === 'mined' &&
  a.block === b.block &&
  a.succeeded === b.succeeded &&
  a.isRegistration === b.isRegistration &&
  a.isConfirmed === b.isConfirmed

/**
 * Reads a transaction's state. A final state needs two nodes. Without agreement, a transaction that calls our contracts
 * is returned as unconfirmed: its final status is stored once two nodes agree. Any other transaction has no stored
 * status and may have been shown as final before, so the function throws.
 * @throws NoQuorumError where two nodes do not agree about a transaction that does not call our contracts; errors of
 * `onOneNode`
 */
export async function readTxByTwoNodes<T extends ChainTx | PaymentTx>(
  rpc: Pick<RpcNodes, 'onOneNode' | 'quorum'>,
  read: (call: RpcCall) => Promise<T>,
): Promise<T> {
  const seen = await rpc.onOneNode(read)
  if (!isFinal(seen)) return seen
  const known = async (call: RpcCall): Promise<T> => {
    const other = await read(call)
    // the second node may have forgotten the transaction
    if (other.state === 'unknown')
      throw new MissingDataError('the node does not know the transaction')
    return other
  }
  const agreed = rpc.quorum(known, isSameMinedState)
  return seen.isOurs ? fallbackIfNoQuorum(agreed, { ...seen, isConfirmed: false }) : agreed
}

/** Lifetime (ms) of cached balances and token units, and the size of each of these caches. */
export const TOKEN_CACHE_OPTIONS = { forMs: () => 3_000, most: 10_000 }
