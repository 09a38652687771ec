import { addressToWord } from './address.js'
import { fromHex } from './bytes.js'
import { keccak256 } from './keccak.js'
import { NETWORK_CODE, type Network } from './network.js'

/**
 * Id of the n-th cluster that a wallet creates: keccak256(network u8 ‖ creator bytes32 ‖ n u64). Clusters are never
 * deleted, so a creator's used numbers are 0 … k-1, and a rebuild derives the same ids.
 * @param creator stored address (see address.ts)
 */
export function deriveClusterId(network: Network, creator: Uint8Array, n: number): Buffer {
  const input = Buffer.alloc(41)
  input[0] = NETWORK_CODE[network]
  input.set(addressToWord(creator), 1)
  input.writeBigUInt64BE(BigInt(n), 33)
  return keccak256(input)
}

export const parseClusterId = (input: string): Buffer | null =>
  /^0x[0-9a-fA-F]{64}$/.test(input) ? fromHex(input) : null
