import { toHex } from './primitives/bytes.js'

const ADDRESS_BYTES = 20
const HASH_BYTES = 32

/**
 * Running hashes as they are stored with a checkpoint, by the contract's address: the checkpoint's block hash, then each
 * contract's address and running hash. None where the bytes are of another block.
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
