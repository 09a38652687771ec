import { encodeFunctionData } from 'viem'
import { toHex } from '../../../registry/primitives/bytes.js'
import type { Hex } from '../../chain.js'
import { transient } from '../../rpc/errors.js'
import type { Call } from '../../rpc/evm.js'
import type { BridgeCall } from '../bridge/calls.js'
import { communityPaymentsAbi } from '../contracts/index.js'
import { readContract } from '../contracts/read.js'

/** A payment for a community name that is refunded. */
export interface PaymentToRefuse {
  /** The payments contract's id. */
  paymentId: Buffer
  /** Block and words of the payment; null where a rewind has taken it back. */
  made: { block: number; community: Buffer; name: Buffer } | null
}

/** State of a payment at its contract. `released`: the recipient owns the money, and nobody can refund it. */
export type HeldState = 'held' | 'refused' | 'released'

/** `CommunityPayments.refuse` lets the payer withdraw. Only the relayer may call it, while the payment is held. */
export const refuseCall = (payments: Hex, { paymentId }: PaymentToRefuse): BridgeCall => ({
  to: payments,
  data: encodeFunctionData({ abi: communityPaymentsAbi, functionName: 'refuse', args: [toHex(paymentId)] }),
})

/**
 * Reads a payment's state as of a block. held → `held`; not held and name free → `refused`; not held and name taken →
 * `released`.
 * @throws RpcError transient where the block is older than the payment
 */
export async function readHeldState(
  call: Call,
  payments: Hex,
  { paymentId, made }: PaymentToRefuse,
  block: number,
): Promise<HeldState> {
  if (made && block < made.block) throw transient(`block ${block} is older than the payment of block ${made.block}`)
  const at: Hex = `0x${block.toString(16)}`
  const abi = communityPaymentsAbi
  const paid = { abi, functionName: 'payments', args: [toHex(paymentId)] } as const
  const [, , , , amount] = await readContract(call, payments, paid, at)
  if (amount > 0n) return 'held'
  if (!made) return 'refused'
  const standing = { abi, functionName: 'paymentOf', args: [toHex(made.community), toHex(made.name)] } as const
  return (await readContract(call, payments, standing, at)) === toHex(paymentId) ? 'released' : 'refused'
}
