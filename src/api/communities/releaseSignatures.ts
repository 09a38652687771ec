import { LRUCache } from 'lru-cache'
import type { Hex, PaymentReleaseSigner } from '../../chains/chain.js'
import { toHex } from '../../registry/primitives/bytes.js'

/** Number of cached release signatures: one for each recipient and token. */
const CACHED_SIGNATURES = 1_000

/**
 * Wraps a signer so that it signs each release (the permission to pay out the payments for community names) only once.
 * Anybody may request a release, a remote signer costs money, and the relayer sends its transactions with the same key.
 * A release does not expire, so its signature can be cached. A failed signature is requested again.
 */
export function cacheSignatures(sign: PaymentReleaseSigner): PaymentReleaseSigner {
  const kept = new LRUCache<string, Hex, Parameters<PaymentReleaseSigner>[0]>({
    maxSize: CACHED_SIGNATURES,
    sizeCalculation: () => 1,
    fetchMethod: (_key, _stale, { context }) => sign(context),
  })
  return async (word) => {
    const key = [word.chainId, word.contract, ...word.paymentIds.map(toHex)].join()
    return (await kept.fetch(key, { context: word }))!
  }
}
