import { LRUCache } from 'lru-cache'
import type { Hex, ReleaseSigner } from '../../chains/chain.js'
import { toHex } from '../../registry/primitives/bytes.js'

/** Signatures kept: one of each recipient and token. */
const KEPT_WORDS = 1_000

/**
 * A signer that signs each word once: anybody asks for them, and a key behind a remote signer costs money and is the
 * one that the relayer sends by. A word has no end, so that it is as good later. What failed is asked for again.
 */
export function onceEach(sign: ReleaseSigner): ReleaseSigner {
  const kept = new LRUCache<string, Hex, Parameters<ReleaseSigner>[0]>({
    max: KEPT_WORDS,
    fetchMethod: (_key, _stale, { context }) => sign(context),
  })
  return async (word) => {
    const key = [word.chainId, word.contract, ...word.paymentIds.map(toHex)].join()
    return (await kept.fetch(key, { context: word }))!
  }
}
