import type { Hex } from '../../chains/chain.js'
import { decodeBase58 } from '../../registry/primitives/base58.js'
import { fromHex } from '../../registry/primitives/bytes.js'
import type { Context } from '../http/context.js'
import type { TxStatus } from './decide.js'
import { evmStatus } from './evm.js'
import { solanaStatus } from './solana.js'

/** Id of a transaction: an EVM hash, or a Solana signature. */
type TxId = { type: 'evm'; hash: Hex } | { type: 'solana'; signature: string }

const HASH = /^0x[0-9a-fA-F]{64}$/
const SIGNATURE_BYTES = 64

/** Parses a transaction's id by its form; null for any other text. */
export function parseTxId(input: string): TxId | null {
  if (HASH.test(input)) return { type: 'evm', hash: input.toLowerCase() as Hex }
  return decodeBase58(input, SIGNATURE_BYTES) ? { type: 'solana', signature: input } : null
}

/** Raw bytes of a transaction's id. */
export const idBytes = (id: TxId): Buffer =>
  id.type === 'evm' ? fromHex(id.hash) : Buffer.from(decodeBase58(id.signature, SIGNATURE_BYTES)!)

/**
 * The status of a registration transaction on any chain; null for a text that is no transaction's id.
 * @throws ChainUnavailableError as evmStatus and solanaStatus
 */
export async function statusOf(context: Context, tx: string): Promise<TxStatus | null> {
  const id = parseTxId(tx)
  if (!id) return null
  return id.type === 'evm' ? evmStatus(context, id.hash) : solanaStatus(context, id.signature)
}

/** Tells whether the journal alone decides a status: a transaction of the hub whose bids all won. */
export const isOfJournal = (tx: string, { status, hubTx, names = [] }: TxStatus): boolean =>
  status === 'finalized' && hubTx === tx.toLowerCase() && names.every(({ outcome }) => outcome === 'won')
