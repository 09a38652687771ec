import { LRUCache } from 'lru-cache'
import type { Hex, ReleaseSigner } from '../../chains/chain.js'
import { toHex } from '../../registry/primitives/bytes.js'

/** Words kept: what is held of one recipient in one token is one. */
const KEPT_WORDS = 1_000

/**
 * A signer that signs each word once: anybody asks for them, and a key behind a remote signer costs money and is the
 * one that the relayer sends by. A word has no end, so that it is as good later. What failed is asked for again.
 */
export function onceEach(sign: ReleaseSigner): ReleaseSigner {
  const kept = new LRUCache<string, Promise<Hex>>({ max: KEPT_WORDS })
  return (word) => {
    const key = [word.chainId, word.contract, ...word.paymentIds.map(toHex)].join()
    const known = kept.get(key)
    if (known) return known
    const signed = sign(word)
    kept.set(key, signed)
    signed.catch(() => kept.get(key) === signed && kept.delete(key))
    return signed
  }
}
