import { encodeFunctionData } from 'viem'
import type { ChainConfig } from '../../../config/index.js'
import { addressToWord, parseAddress } from '../../../registry/primitives/address.js'
import { toHex } from '../../../registry/primitives/bytes.js'
import {
  AmountError,
  BridgeError,
  type EvmQuote,
  type Hex,
  type RegistrationRequest,
  type UnsignedTransaction,
} from '../../chain.js'
import { withMargin } from '../../margins.js'
import { orIfRefused, RpcError } from '../../rpc/errors.js'
import type { Call, Rpc } from '../../rpc/evm.js'
import { servedByKey, servedFor } from '../../rpc/served.js'
import { hubAbi, spokeAbi } from '../contracts/index.js'
import { isContract, readContract } from '../contracts/read.js'
import { encodePlaceBids } from './calls.js'
import { encodeMessage } from './hubMessage.js'
import { encodeLzReceiveOption, MAX_VALUE_WEI } from './packetOptions.js'

/** Default gas on the hub for third-party spokes, which have no `gasNeeds`: measured, plus a margin. */
const DEFAULT_GAS = { bidsBase: 160_000n, perName: 35_000n, withdrawal: 170_000n }

/** Time for which the bridge's fees are served, ms: what moves meanwhile is within the margin of a quote. */
const FEES = { forMs: () => 5_000, most: 1_000 }
/** Time for which the owner's settings of a spoke are served. */
const NEEDS_MS = 30_000

interface Delivery {
  message: Hex
  gas: bigint
  /** Delivered with it, wei on the hub. */
  value: bigint
}

/**
 * Creates a quoter of registrations over the bridge, whose fee contains the bids' sum in ETH. The rest of the fee is
 * raised by a margin, since fees move between quote and transaction and the endpoint refunds the excess. A fee depends
 * on the message's size and options alone, so one serves all registrations alike.
 * @returns a function that throws BridgeError when the endpoint can't quote; AmountError; ChainUnavailableError
 */
export function createSpokeQuoter(
  config: ChainConfig,
  rpc: Rpc,
): (request: RegistrationRequest) => Promise<EvmQuote> {
  const { contract, gasToken } = config
  const isEth = gasToken.symbol === 'ETH'
  const needs = servedFor(NEEDS_MS, () => rpc.onOneNode((call) => gasNeeds(call, contract)))
  const fees = servedByKey(
    ({ message, gas, value: sum }: Delivery) => {
      const quote = (call: Call, value: bigint) =>
        nativeFee(call, contract, message, encodeLzReceiveOption({ gas, value }))
      return rpc.onOneNode((call) =>
        Promise.all([quote(call, sum), isEth ? null : quote(call, 0n)]),
      )
    },
    { ...FEES, keyOf: ({ message, gas, value }) => `${message.length} ${gas} ${value}` },
  )

  return async ({ names, referral, sender }) => {
    const sum = names.reduce((total, { amountWei }) => total + amountWei, 0n)
    if (sum > MAX_VALUE_WEI)
      throw new AmountError(`The bridge delivers at most ${MAX_VALUE_WEI} wei.`)
    const hubCalldata = encodePlaceBids(names, referral)
    const { bidsBase, perName } = await needs()
    const gas = bidsBase + perName * BigInt(names.length)
    const delivery = { message: encodeMessage(senderWord(sender), hubCalldata), gas, value: sum }
    const [fee, feeWithoutValue] = await fees(delivery)
    // cost of the bids in the gas token: their sum where the token is ETH, else what their value adds to the quote
    const delivered = feeWithoutValue === null ? sum : fee - feeWithoutValue
    if (fee < delivered || delivered <= 0n)
      throw new BridgeError(`the bridge quotes ${fee} for delivering ${delivered}`)
    const value = delivered + withMargin(fee - delivered, config)
    const args = [hubCalldata, encodeLzReceiveOption(delivery)] as const
    return {
      gasToken,
      transactionData: {
        to: contract,
        data: encodeFunctionData({ abi: spokeAbi, functionName: 'lzSend', args }),
        value,
      },
      registrationFee: delivered,
      bridgeFee: value - delivered,
      names: share(names, sum, delivered),
    }
  }
}

/** The last bid takes the rounding, so all add up to the registration fee. */
function share(
  names: RegistrationRequest['names'],
  sum: bigint,
  delivered: bigint,
): EvmQuote['names'] {
  let left = delivered
  return names.map(({ name, amountWei }, i) => {
    const amount = i === names.length - 1 ? left : (delivered * amountWei) / sum
    left -= amount
    return { name, amountWei, amount }
  })
}

/** Word of a sender in a message. @throws RangeError for no address */
function senderWord(sender: string): Hex {
  const address = parseAddress(sender)
  if (typeof address === 'string') throw new RangeError(`${sender} is not an address`)
  return toHex(addressToWord(address.bytes))
}

/** @throws BridgeError where the endpoint refuses */
async function nativeFee(call: Call, spoke: Hex, message: Hex, options: Hex): Promise<bigint> {
  const question = { abi: spokeAbi, functionName: 'quote', args: [message, options] } as const
  const { nativeFee: fee } = await readContract(call, spoke, question).catch((error) => {
    if (error instanceof RpcError && error.fault === 'refused')
      throw new BridgeError(`the bridge can't quote: ${error.message}`, { cause: error })
    throw error
  })
  return fee
}

async function gasNeeds(call: Call, spoke: Hex): Promise<typeof DEFAULT_GAS> {
  const needs = await orIfRefused(
    readContract(call, spoke, { abi: spokeAbi, functionName: 'gasNeeds' }),
    null,
  )
  return needs ? { bidsBase: needs[0], perName: needs[1], withdrawal: needs[2] } : DEFAULT_GAS
}

/** Takes what the hub owes a bidder for direct bids. */
export const withdrawalOnHub = (hub: Hex, to: Hex): UnsignedTransaction => ({
  type: 'evm',
  to: hub,
  value: 0n,
  data: encodeFunctionData({ abi: hubAbi, functionName: 'withdrawRefund', args: [to] }),
})

/** As `RefundPort.withdrawal`, from a spoke. @throws BridgeError when the endpoint can't quote */
export async function withdrawalOnSpoke(
  call: Call,
  { contract, bridgeMarginPercent }: Pick<ChainConfig, 'contract' | 'bridgeMarginPercent'>,
  bidder: Hex,
  to: Hex | null,
): Promise<UnsignedTransaction | null> {
  if (to === null && (await isContract(call, bidder))) return null
  const args = [to ?? bidder] as const
  const hubCalldata = encodeFunctionData({ abi: hubAbi, functionName: 'withdrawRefund', args })
  const { withdrawal: gas } = await gasNeeds(call, contract)
  const options = encodeLzReceiveOption({ gas, value: 0n })
  const fee = await nativeFee(
    call,
    contract,
    encodeMessage(senderWord(bidder), hubCalldata),
    options,
  )
  return {
    type: 'evm',
    to: contract,
    data: encodeFunctionData({
      abi: spokeAbi,
      functionName: 'lzSend',
      args: [hubCalldata, options],
    }),
    value: withMargin(fee, { bridgeMarginPercent }),
  }
}
