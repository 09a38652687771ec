import { pad } from 'viem'
import type { ChainConfig } from '../../../config/index.js'
import {
  AmountError,
  BridgeError,
  type EvmQuote,
  type Hex,
  type RegistrationRequest,
  type UnsignedTransaction,
} from '../../chain.js'
import { addPriceMargin } from '../../margins.js'
import { fallbackIfRefused, RpcError } from '../../rpc/errors.js'
import type { EvmRpc, RpcCall } from '../../rpc/evm.js'
import { cacheAnswerForDuration, cacheAnswersByKey } from '../../rpc/served.js'
import { hubAbi, spokeAbi } from '../contracts/index.js'
import { createContractReader, encodeContractCall } from '../contracts/read.js'
import { encodePlaceBidsCalldata } from './calls.js'
import { encodeHubMessage } from './hubMessage.js'
import { encodeLzReceiveOption, MAX_DELIVERED_VALUE_WEI } from './packetOptions.js'

/** Gas on the hub for third-party spokes, which have no `gasNeeds` setting: measured values plus a margin. */
const DEFAULT_GAS_NEEDS = { bidsBase: 160_000n, perName: 35_000n, withdrawal: 170_000n }

/** Lifetime (ms) and size of the cache of the bridge's fees. The quote's margin covers fee changes in that time. */
const FEE_CACHE_OPTIONS = { forMs: () => 5_000, most: 1_000 }
/** How long a spoke's gas settings, which its owner may change, are cached, ms. */
const GAS_NEEDS_CACHE_MS = 30_000

interface HubMessageDelivery {
  message: Hex
  gas: bigint
  /** Value that arrives with the message, wei on the hub. */
  value: bigint
}

/**
 * Creates a quoter of registrations over the bridge. The bridge's fee includes the bids' sum in ETH. The rest of the
 * fee is raised by a margin, because fees change between quote and transaction, and the endpoint refunds the excess. A
 * fee depends only on the message's size and options (gas and value), so registrations with equal size and options
 * share a cached fee.
 * @returns a function that throws BridgeError when the bridge gives no usable price; AmountError; ChainUnavailableError;
 * RpcError
 */
export function createSpokeQuoter(
  config: ChainConfig,
  rpc: EvmRpc,
): (request: RegistrationRequest) => Promise<EvmQuote> {
  const { contract, gasToken } = config
  const isEth = gasToken.symbol === 'ETH'
  const needs = cacheAnswerForDuration(GAS_NEEDS_CACHE_MS, () =>
    rpc.onOneNode((call) => readGasNeeds(call, contract)),
  )
  const fees = cacheAnswersByKey(
    ({ message, gas, value: sum }: HubMessageDelivery) => {
      const quote = (call: RpcCall, value: bigint) =>
        readNativeFee(call, contract, message, encodeLzReceiveOption({ gas, value }))
      return rpc.onOneNode((call) =>
        Promise.all([quote(call, sum), isEth ? null : quote(call, 0n)]),
      )
    },
    {
      ...FEE_CACHE_OPTIONS,
      keyOf: ({ message, gas, value }) => `${message.length} ${gas} ${value}`,
    },
  )

  return async ({ names, referral, sender }) => {
    const sum = names.reduce((total, { amountWei }) => total + amountWei, 0n)
    if (sum > MAX_DELIVERED_VALUE_WEI)
      throw new AmountError(`The bridge delivers at most ${MAX_DELIVERED_VALUE_WEI} wei.`)
    const hubCalldata = encodePlaceBidsCalldata(names, referral)
    const { bidsBase, perName } = await needs()
    const gas = bidsBase + perName * BigInt(names.length)
    const delivery = { message: encodeHubMessage(pad(sender as Hex), hubCalldata), gas, value: sum }
    const [fee, feeWithoutValue] = await fees(delivery)
    // cost of the bids in the gas token: the bids' sum where the token is ETH, otherwise the amount by which the bids'
    // value raises the fee
    const delivered = feeWithoutValue === null ? sum : fee - feeWithoutValue
    if (fee < delivered || delivered <= 0n)
      throw new BridgeError(`the bridge quotes ${fee} for delivering ${delivered}`)
    const value = delivered + addPriceMargin(fee - delivered, config)
    return {
      gasToken,
      transactionData: {
        to: contract,
        data: encodeContractCall(spokeAbi, 'lzSend', [
          hubCalldata,
          encodeLzReceiveOption(delivery),
        ]),
        value,
      },
      registrationFee: delivered,
      bridgeFee: value - delivered,
      names: splitRegistrationFee(names, sum, delivered),
    }
  }
}

/**
 * Splits the registration fee among the names in proportion to their bids. The last name takes the rounding difference,
 * so the parts add up exactly.
 */
function splitRegistrationFee(
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

/** Asks the spoke for the bridge's fee of a message. @throws BridgeError where the spoke's `quote` reverts */
async function readNativeFee(
  call: RpcCall,
  spoke: Hex,
  message: Hex,
  options: Hex,
): Promise<bigint> {
  const read = createContractReader(call, spoke, spokeAbi)
  const { nativeFee: fee } = await read('quote', [message, options]).catch((error) => {
    if (error instanceof RpcError && error.fault === 'refused')
      throw new BridgeError(`the bridge can't quote: ${error.message}`, { cause: error })
    throw error
  })
  return fee
}

async function readGasNeeds(call: RpcCall, spoke: Hex): Promise<typeof DEFAULT_GAS_NEEDS> {
  const needs = await fallbackIfRefused(
    createContractReader(call, spoke, spokeAbi)('gasNeeds'),
    null,
  )
  return needs ? { bidsBase: needs[0], perName: needs[1], withdrawal: needs[2] } : DEFAULT_GAS_NEEDS
}

/** Transaction on the hub by which a bidder withdraws what the hub owes for direct bids. */
export const hubWithdrawalTransaction = (hub: Hex, to: Hex): UnsignedTransaction => ({
  type: 'evm',
  to: hub,
  value: 0n,
  data: encodeWithdrawRefundCalldata(to),
})

const encodeWithdrawRefundCalldata = (to: Hex): Hex =>
  encodeContractCall(hubAbi, 'withdrawRefund', [to])

/**
 * Transaction on a spoke by which a bidder withdraws, over the bridge, what the hub owes for bids from this spoke.
 * @param to receiver on the hub
 * @throws BridgeError when the endpoint can't quote; RpcError
 */
export async function spokeWithdrawalTransaction(
  call: RpcCall,
  { contract, bridgeMarginPercent }: Pick<ChainConfig, 'contract' | 'bridgeMarginPercent'>,
  bidder: Hex,
  to: Hex,
): Promise<UnsignedTransaction> {
  const hubCalldata = encodeWithdrawRefundCalldata(to)
  const { withdrawal: gas } = await readGasNeeds(call, contract)
  const options = encodeLzReceiveOption({ gas, value: 0n })
  const fee = await readNativeFee(
    call,
    contract,
    encodeHubMessage(pad(bidder), hubCalldata),
    options,
  )
  return {
    type: 'evm',
    to: contract,
    data: encodeContractCall(spokeAbi, 'lzSend', [hubCalldata, options]),
    value: addPriceMargin(fee, { bridgeMarginPercent }),
  }
}
