import { toHex } from './primitives/bytes.js'

const ADDRESS_BYTES = 20
const HASH_BYTES = 32

/**
 * Parses the running hashes that are stored with a chain's cursor, by contract address in hex.
 * @param parentHash hash of the last block before the cursor
 * @param stored hash of the block as of which the running hashes are, then each contract's address and running hash
 * @returns empty if none are stored, or if they are as of another block than `parentHash`
 */
export function parseStoredRunningHashes(parentHash: Buffer, stored: Buffer | null) {
  const hashes = new Map<string, Buffer>()
  if (!stored?.subarray(0, HASH_BYTES).equals(parentHash)) return hashes
  for (let at = HASH_BYTES; at < stored.length; at += ADDRESS_BYTES + HASH_BYTES) {
    const address = stored.subarray(at, at + ADDRESS_BYTES)
    hashes.set(toHex(address), stored.subarray(at + ADDRESS_BYTES).subarray(0, HASH_BYTES))
  }
  return hashes
}
