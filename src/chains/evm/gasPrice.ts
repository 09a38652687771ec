import type { ChainConfig } from '../../config/index.js'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import { ChainUnavailableError } from '../chain.js'
import { fallbackIfCallFails, transientError } from '../rpc/errors.js'
import type { EvmRpc, RpcCall } from '../rpc/evm.js'
import { cacheAnswerForDuration } from '../rpc/served.js'
import { defaultGasPriceCapWei, estimateGasFees, type GasFees } from './gasFees.js'

const FEE_HISTORY_BLOCKS = '0x5'
const MEDIAN_PERCENTILE = 50
const HOUR_MS = 3_600_000
/** Number of blocks for the median price: 1,024 in hex, the most that nodes return in one answer. */
const CAP_HISTORY_BLOCKS = '0x400'
/** Stands for "no cap": transactions of a local chain cost nothing. */
const NO_CAP_WEI = 2n ** 128n

interface FeeHistory {
  baseFeePerGas: `0x${string}`[]
  reward?: `0x${string}`[][]
}

/** The tip that a node suggests (eth_maxPriorityFeePerGas), wei; 0 where it suggests none. */
const readSuggestedTip = async (ask: RpcCall): Promise<bigint> =>
  BigInt(await fallbackIfCallFails(ask<`0x${string}`>('eth_maxPriorityFeePerGas', []), '0x0'))

/** Estimates fees from one node's answers. The fees may exceed the gas price cap (`createGasPriceCap`). */
export async function readGasFees(ask: RpcCall): Promise<GasFees> {
  const params = [FEE_HISTORY_BLOCKS, 'latest', [MEDIAN_PERCENTILE]]
  const [history, suggestedWei] = await Promise.all([
    ask<FeeHistory>('eth_feeHistory', params),
    readSuggestedTip(ask),
  ])
  // the last element is the next block's base fee
  const baseFeeWei = BigInt(history.baseFeePerGas.at(-1) ?? '0x0')
  return estimateGasFees(
    baseFeeWei,
    (history.reward ?? []).flatMap(([tip]) => (tip === undefined ? [] : [BigInt(tip)])),
    suggestedWei,
  )
}

/**
 * Lowest of the gas prices (base fee and tip) that nodes expect for the next block, wei. Two nodes have to answer where
 * two are configured, so that one node can't make gas appear expensive.
 * @throws ChainUnavailableError
 */
export async function readLeastGasPriceWei(rpc: EvmRpc): Promise<bigint> {
  const fees = await rpc.onEveryNode(readGasFees, 2)
  // maxFeePerGas is twice the expected base fee, plus the tip
  const prices = fees.map((one) => (one.maxFeePerGas + one.maxPriorityFeePerGas) / 2n)
  return prices.reduce((least, wei) => (wei < least ? wei : least))
}

/** Calculates the gas price cap from one node's answers, wei. @throws RpcError where the node has no prices */
async function readGasPriceCapWei(ask: RpcCall): Promise<bigint> {
  const params = [CAP_HISTORY_BLOCKS, 'latest', [MEDIAN_PERCENTILE]]
  const { baseFeePerGas, reward } = await ask<FeeHistory>('eth_feeHistory', params)
  // the last element is the next block's base fee
  const prices = baseFeePerGas
    .slice(0, -1)
    .map((fee, i) => BigInt(fee) + BigInt(reward?.[i]?.[0] ?? '0x0'))
  // without prices the cap would be its minimum, at which nothing is mined on a busy chain
  if (prices.length === 0) throw transientError('eth_feeHistory: no price of recent blocks')
  return defaultGasPriceCapWei(prices, await readSuggestedTip(ask))
}

/**
 * Creates a reader of the gas price cap, wei: nothing is signed on a chain above this price. A local chain needs no cap.
 * Where none is configured, the cap is calculated every hour: the highest that two nodes allow. So a single node can't
 * raise the cap, nor lower it where three are configured. While fewer nodes answer, the last cap is kept.
 * @returns a function that throws ChainUnavailableError where too few nodes return prices and there is no earlier cap
 */
export function createGasPriceCap(
  rpc: EvmRpc,
  { local, maxGasPriceWei }: Pick<ChainConfig, 'local' | 'maxGasPriceWei'>,
): () => Promise<bigint> {
  if (maxGasPriceWei !== undefined || local) return async () => maxGasPriceWei ?? NO_CAP_WEI
  let agreedWei: bigint | null = null
  const ask = async (): Promise<bigint> => {
    const caps = await fallbackOnExpectedError(
      rpc.onEveryNode(readGasPriceCapWei, rpc.needed),
      (error) => agreedWei !== null && error instanceof ChainUnavailableError,
      null,
    )
    if (caps) agreedWei = caps.sort((a, b) => (a < b ? 1 : -1))[rpc.needed - 1]!
    return agreedWei!
  }
  return cacheAnswerForDuration(HOUR_MS, ask)
}
