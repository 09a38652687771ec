import type { Address, Hex } from 'viem'
import { encodeHubMessage } from '../../chains/evm/bridge/hubMessage.js'
import { encodeLzReceiveOption } from '../../chains/evm/bridge/packetOptions.js'
import { spokeAbi } from '../../chains/evm/contracts/index.js'
import { encodeContractCall } from '../../chains/evm/contracts/read.js'
import { localChainClients, type RpcUrlAndChainId } from '../chains/localClients.js'
import { addressAsBytes32 } from '../world.js'

/** Gas on the hub for a withdrawal, or for bids on a few names. */
const DEFAULT_HUB_GAS = 400_000n

/** A chain of the local world, with its spoke. */
export interface SpokeChain extends RpcUrlAndChainId {
  contracts: { spoke: Address }
}

/** A call to the hub that a spoke sends as a message. */
export interface BridgeCall {
  /** Sender on the spoke, which the hub takes as the bidder. */
  from: Address
  hubCalldata: Hex
  /** Value delivered to the hub, wei: the sum of the bids, zero for a withdrawal. */
  valueWei: bigint
  /** Gas for the call on the hub. Default: 400,000. */
  gas?: bigint
}

/**
 * Builds the transaction that sends a call from a spoke to the hub. Its value is exactly the spoke's quote (no margin).
 */
export async function buildBridgeCall(
  spoke: SpokeChain,
  { from, hubCalldata, valueWei, gas = DEFAULT_HUB_GAS }: BridgeCall,
): Promise<{ to: Address; data: Hex; value: bigint }> {
  const options = encodeLzReceiveOption({ gas, value: valueWei })
  const { nativeFee } = await localChainClients(spoke).reader.readContract({
    address: spoke.contracts.spoke,
    abi: spokeAbi,
    functionName: 'quote',
    args: [encodeHubMessage(addressAsBytes32(from), hubCalldata), options],
  })
  const data = encodeContractCall(spokeAbi, 'lzSend', [hubCalldata, options])
  return { to: spoke.contracts.spoke, data, value: nativeFee }
}
