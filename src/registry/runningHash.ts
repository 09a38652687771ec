import { toHex } from './primitives/bytes.js'

const ADDRESS_BYTES = 20
const HASH_BYTES = 32

/**
 * Reads the running hashes that are stored with a chain's cursor, by contract address. `stored` has the block hash of
 * the cursor, then each contract's address and running hash. Empty if that block hash is not `parentHash`.
 */
export function storedRunningHashes(parentHash: Buffer, stored: Buffer | null) {
  const known = new Map<string, Buffer>()
  if (!stored?.subarray(0, HASH_BYTES).equals(parentHash)) return known
  for (let at = HASH_BYTES; at < stored.length; at += ADDRESS_BYTES + HASH_BYTES) {
    const address = stored.subarray(at, at + ADDRESS_BYTES)
    known.set(toHex(address), stored.subarray(at + ADDRESS_BYTES).subarray(0, HASH_BYTES))
  }
  return known
}
