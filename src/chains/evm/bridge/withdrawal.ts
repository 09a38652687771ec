import { encodeFunctionData } from 'viem'
import type { ChainConfig } from '../../../config/index.js'
import type { Hex, RefundTransaction } from '../../chain.js'
import { withMargin } from '../../margins.js'
import type { Call } from '../../rpc/evm.js'
import { hubAbi, spokeAbi } from '../contracts/index.js'
import { encodeMessage } from './hubMessage.js'
import { encodeLzReceiveOption } from './packetOptions.js'
import { gasNeeds, nativeFee, senderWord } from './quote.js'

/** Code of an account of a key that delegates to a contract (EIP-7702). */
const DELEGATION = '0xef0100'

/** Transaction with which a bidder withdraws on the hub what it owes for direct bids. */
export const withdrawalOnHub = (hub: Hex, to: Hex): RefundTransaction => ({
  ...{ type: 'evm', to: hub, value: 0n },
  data: encodeFunctionData({ abi: hubAbi, functionName: 'withdrawRefund', args: [to] }),
})

/**
 * Transaction with which a bidder withdraws, by a message, what the hub owes it for bids from a spoke.
 * @param to receiver on the hub; null for the bidder itself
 * @returns null for a contract without a receiver
 * @throws BridgeError when the endpoint can't quote
 */
export async function withdrawalOnSpoke(
  call: Call,
  { contract, bridgeMarginPercent }: Pick<ChainConfig, 'contract' | 'bridgeMarginPercent'>,
  bidder: Hex,
  to: Hex | null,
): Promise<RefundTransaction | null> {
  if (to === null && (await isContract(call, bidder))) return null
  const args = [to ?? bidder] as const
  const hubCalldata = encodeFunctionData({ abi: hubAbi, functionName: 'withdrawRefund', args })
  const { withdrawal: gas } = await gasNeeds(call, contract)
  const options = encodeLzReceiveOption({ gas, value: 0n })
  const fee = await nativeFee(call, contract, encodeMessage(senderWord(bidder), hubCalldata), options)
  return {
    ...{ type: 'evm', to: contract },
    data: encodeFunctionData({ abi: spokeAbi, functionName: 'lzSend', args: [hubCalldata, options] }),
    value: withMargin(fee, bridgeMarginPercent),
  }
}

async function isContract(call: Call, account: Hex): Promise<boolean> {
  const code = await call<Hex>('eth_getCode', [account, 'latest'])
  return code !== '0x' && !code.startsWith(DELEGATION)
}
