import bs58 from 'bs58'
import type { Hex } from '../../chains/chain.js'

/** What names a transaction: an EVM hash, or a Solana signature. */
export type TxId = { type: 'evm'; hash: Hex } | { type: 'solana'; signature: string }

const HASH = /^0x[0-9a-fA-F]{64}$/
// 64 bytes are 64 to 88 base58 characters; checked before decoding, which is quadratic
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/
const SIGNATURE_BYTES = 64

/** Reads a transaction's id by its form, null when it is none. */
export function parseTxId(input: string): TxId | null {
  if (HASH.test(input)) return { type: 'evm', hash: input.toLowerCase() as Hex }
  if (SIGNATURE.test(input) && bs58.decode(input).length === SIGNATURE_BYTES)
    return { type: 'solana', signature: input }
  return null
}
