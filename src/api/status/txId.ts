import type { Hex } from '../../chains/chain.js'
import { decodeBase58 } from '../../registry/primitives/base58.js'

/** Id of a transaction: an EVM hash, or a Solana signature. */
export type TxId = { type: 'evm'; hash: Hex } | { type: 'solana'; signature: string }

const HASH = /^0x[0-9a-fA-F]{64}$/
const SIGNATURE_BYTES = 64

/** Parses a transaction's id by its form; null for any other text. */
export function parseTxId(input: string): TxId | null {
  if (HASH.test(input)) return { type: 'evm', hash: input.toLowerCase() as Hex }
  return decodeBase58(input, SIGNATURE_BYTES) ? { type: 'solana', signature: input } : null
}
