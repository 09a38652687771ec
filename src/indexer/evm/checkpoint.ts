import type { EvmChain } from '../../chains/evm/chain.js'
import { getHeader } from '../../chains/evm/logs.js'
import type { ChainRow } from '../../db/chains.js'
import { toHex } from '../../registry/primitives/bytes.js'

/** The checkpoint's block is no longer on the chain. */
export class DeepReorgError extends Error {
  override name = 'DeepReorgError'
}

/**
 * Whether the checkpoint's block has been replaced: every node that knows its height has another one there, and some node
 * does. A single node on another fork is that node's trouble and no reason to halt the chain.
 * @throws ChainUnavailableError
 */
export async function isCheckpointReplaced(
  chain: EvmChain,
  { parentHash, nextBlock }: Pick<ChainRow, 'parentHash' | 'nextBlock'>,
): Promise<boolean> {
  if (!parentHash) return false
  const headers = await chain.rpc.onEveryNode((call) => getHeader(call, nextBlock - 1))
  const known = headers.filter((header) => header !== null)
  return known.length > 0 && known.every(({ hash }) => hash !== toHex(parentHash))
}
