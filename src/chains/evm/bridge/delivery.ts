import { decodeFunctionResult, encodeFunctionData } from 'viem'
import { toHex } from '../../../registry/primitives/bytes.js'
import type { Hex } from '../../chain.js'
import type { Call } from '../../rpc/evm.js'
import { hubAbi } from '../contracts/index.js'
import type { BridgeCall } from './calls.js'

/** Arguments of `Hub.deliver`: a payment on another chain. */
export interface PaidBid {
  messageId: Uint8Array
  /** The payer as a word. */
  from: Uint8Array
  amountWei: bigint
  /** The name as a word. */
  name: Uint8Array
  referral: Uint8Array
}

/** `Hub.deliver`: places the bid of a payment, once per message id. Restricted to the relayer. Emits `Received`. */
export const deliverCall = (hub: Hex, { messageId, from, amountWei, name, referral }: PaidBid): BridgeCall => ({
  to: hub,
  data: encodeFunctionData({
    abi: hubAbi,
    functionName: 'deliver',
    args: [toHex(messageId), toHex(from), [amountWei], [toHex(name)], toHex(referral)],
  }),
})

/** Whether the hub knows a message id at a block (number or tag in JSON-RPC form). */
export async function readIsDelivered(call: Call, hub: Hex, messageId: Uint8Array, block: string): Promise<boolean> {
  const data = encodeFunctionData({ abi: hubAbi, functionName: 'isDelivered', args: [toHex(messageId)] })
  const answer = await call<Hex>('eth_call', [{ to: hub, data }, block])
  return decodeFunctionResult({ abi: hubAbi, functionName: 'isDelivered', data: answer })
}
