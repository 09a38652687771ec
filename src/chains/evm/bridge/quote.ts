import { encodeFunctionData } from 'viem'
import type { ChainConfig } from '../../../config/index.js'
import { addressToWord, parseAddress } from '../../../registry/primitives/address.js'
import { toHex } from '../../../registry/primitives/bytes.js'
import { BridgeError, type EvmQuote, type Hex, type RegistrationRequest } from '../../chain.js'
import { orIfRefused, RpcError } from '../../rpc/errors.js'
import type { Call, Rpc } from '../../rpc/evm.js'
import { encodePlaceBids } from '../calldata.js'
import { spokeAbi } from '../contracts/index.js'
import { readContract } from '../contracts/read.js'
import { encodeMessage } from './hubMessage.js'
import { encodeLzReceiveOption } from './packetOptions.js'

/** Default gas on the hub for third-party spokes, which have no `gasNeeds`. Measured with EndpointV2, plus a margin. */
const DEFAULT_GAS = { bidsBase: 160_000n, perName: 35_000n }

/**
 * Quotes a registration over the bridge. The message is delivered on the hub with the bids' sum in ETH, which the
 * bridge's fee contains. The rest of the fee is raised by the configured margin, since fees move between quote and
 * transaction and the endpoint refunds the excess.
 * @throws BridgeError when the endpoint can't quote; ChainUnavailableError
 */
export async function quoteOnSpoke(config: ChainConfig, rpc: Rpc, request: RegistrationRequest): Promise<EvmQuote> {
  const { contract, gasToken, bridgeMarginPercent } = config
  const sum = request.names.reduce((total, { amountWei }) => total + amountWei, 0n)
  const hubCalldata = encodePlaceBids(request.names, request.referral)
  const message = encodeMessage(senderWord(request.sender), hubCalldata)
  return rpc.onOneNode(async (call) => {
    const needs = await gasNeeds(call, contract)
    const gas = needs.bidsBase + needs.perName * BigInt(request.names.length)
    const options = encodeLzReceiveOption({ gas, value: sum })
    const quote = (value: bigint) => nativeFee(call, contract, message, encodeLzReceiveOption({ gas, value }))
    const isEth = gasToken.symbol === 'ETH'
    const [fee, feeWithoutValue] = await Promise.all([quote(sum), isEth ? null : quote(0n)])
    // cost of the bids in the gas token: their sum where the token is ETH, else the part of the quote that their value
    // adds
    const delivered = feeWithoutValue === null ? sum : fee - feeWithoutValue
    if (fee < delivered || delivered <= 0n)
      throw new BridgeError(`the bridge quotes ${fee} for delivering ${delivered}`)
    const value = delivered + ((fee - delivered) * BigInt(100 + bridgeMarginPercent)) / 100n
    return {
      gasToken,
      transactionData: {
        to: contract,
        data: encodeFunctionData({ abi: spokeAbi, functionName: 'lzSend', args: [hubCalldata, options] }),
        value,
      },
      registrationFee: delivered,
      bridgeFee: value - delivered,
      names: share(request.names, sum, delivered),
    }
  })
}

/** Each bid in the gas token. The last one takes the rounding, so that they add up to the registration fee. */
function share(names: RegistrationRequest['names'], sum: bigint, delivered: bigint): EvmQuote['names'] {
  let left = delivered
  return names.map(({ name, amountWei }, i) => {
    const amount = i === names.length - 1 ? left : (delivered * amountWei) / sum
    left -= amount
    return { name, amountWei, amount }
  })
}

/** Word of a sender in a message. @throws RangeError for no address */
export function senderWord(sender: string): Hex {
  const address = parseAddress(sender)
  if (typeof address === 'string') throw new RangeError(`${sender} is not an address`)
  return toHex(addressToWord(address.bytes))
}

/** Fee of a message in the spoke's coin. @throws BridgeError where the endpoint refuses */
export async function nativeFee(call: Call, spoke: Hex, message: Hex, options: Hex): Promise<bigint> {
  const question = { abi: spokeAbi, functionName: 'quote', args: [message, options] } as const
  const { nativeFee: fee } = await readContract(call, spoke, question).catch((error) => {
    if (error instanceof RpcError && error.fault === 'refused')
      throw new BridgeError(`the bridge can't quote: ${error.message}`, { cause: error })
    throw error
  })
  return fee
}

async function gasNeeds(call: Call, spoke: Hex): Promise<typeof DEFAULT_GAS> {
  const needs = await orIfRefused(readContract(call, spoke, { abi: spokeAbi, functionName: 'gasNeeds' }), null)
  return needs ? { bidsBase: needs[0], perName: needs[1] } : DEFAULT_GAS
}
