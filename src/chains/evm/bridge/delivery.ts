import { decodeFunctionResult, encodeFunctionData } from 'viem'
import { toHex } from '../../../registry/primitives/bytes.js'
import type { Hex } from '../../chain.js'
import type { Call } from '../../rpc/evm.js'
import { hubAbi } from '../contracts/index.js'
import type { BridgeCall } from './calls.js'

/** What the hub is told of a payment on another chain. */
export interface PaidBid {
  messageId: Uint8Array
  /** The payer's word. */
  from: Uint8Array
  amountWei: bigint
  /** The name's word. */
  name: Uint8Array
  referral: Uint8Array
}

/** `Hub.deliver`: places the bid of a payment. Only the relayer may, once a message id; it emits `Received`. */
export const deliverCall = (hub: Hex, { messageId, from, amountWei, name, referral }: PaidBid): BridgeCall => ({
  to: hub,
  data: encodeFunctionData({
    abi: hubAbi,
    functionName: 'deliver',
    args: [toHex(messageId), toHex(from), [amountWei], [toHex(name)], toHex(referral)],
  }),
})

/** Whether the hub knows a message id, as of a block (a number or tag in the form of JSON-RPC). */
export async function readIsDelivered(call: Call, hub: Hex, messageId: Uint8Array, block: string): Promise<boolean> {
  const data = encodeFunctionData({ abi: hubAbi, functionName: 'isDelivered', args: [toHex(messageId)] })
  const answer = await call<Hex>('eth_call', [{ to: hub, data }, block])
  return decodeFunctionResult({ abi: hubAbi, functionName: 'isDelivered', data: answer })
}
