import type { Context } from '../http/context.js'
import type { TxStatus } from './decide.js'
import { evmStatus } from './evm.js'
import { solanaStatus } from './solana.js'
import type { TxId } from './txId.js'

/**
 * The status of a registration transaction on any chain.
 * @throws ChainUnavailableError as evmStatus and solanaStatus
 */
export function statusOf(context: Context, id: TxId): Promise<TxStatus> {
  switch (id.type) {
    case 'evm':
      return evmStatus(context, id.hash)
    case 'solana':
      return solanaStatus(context, id.signature)
  }
}
