import type { ChainConfig } from '../../config/index.js'
import { transient } from '../rpc/errors.js'
import type { Call, Rpc } from '../rpc/evm.js'
import { inBatches } from '../rpc/nodes.js'
import { servedFor } from '../rpc/served.js'
import { estimateFees, type Fees, priceCapWei } from './gasFees.js'
import { getHeader } from './logs.js'

const FEE_HISTORY_BLOCKS = '0x5'
const MEDIAN_PERCENTILE = 50
const HOUR_MS = 3_600_000
const HOURS = 24
/** Blocks over which the time of one is taken. */
const SPAN_BLOCKS = 1_000
const SAMPLES_AT_ONCE = 8
/** No transaction of a local chain costs anything. */
const NO_CAP_WEI = 2n ** 128n

interface FeeHistory {
  baseFeePerGas: `0x${string}`[]
  reward?: `0x${string}`[][]
}

/** Fees of a transaction that is sent now, by one node's word: `createGasPriceCap` bounds them. */
export async function readFees(ask: Call): Promise<Fees> {
  const history = await ask<FeeHistory>('eth_feeHistory', [FEE_HISTORY_BLOCKS, 'latest', [MEDIAN_PERCENTILE]])
  // the last one is the next block's
  const baseFeeWei = BigInt(history.baseFeePerGas.at(-1) ?? '0x0')
  return estimateFees(
    baseFeeWei,
    (history.reward ?? []).flatMap(([tip]) => (tip === undefined ? [] : [BigInt(tip)])),
  )
}

/** Prices of gas over the last day, one for each hour that a node can tell. @throws RpcError where it can tell none */
async function readDay(ask: Call): Promise<bigint[]> {
  const latest = await getHeader(ask, 'latest')
  const earlier = latest && (await getHeader(ask, Math.max(0, latest.number - SPAN_BLOCKS)))
  if (!latest || !earlier) throw transient('eth_getBlockByNumber: no block to tell the time of one')
  const blockMs = Math.max(1, latest.timestampMs - earlier.timestampMs) / Math.max(1, latest.number - earlier.number)
  const heights = Array.from({ length: HOURS }, (_, hour) => latest.number - Math.floor((hour * HOUR_MS) / blockMs))
  const known = [...new Set(heights.filter((height) => height >= 0))]
  const prices = await inBatches(known, SAMPLES_AT_ONCE, (height) => priceAt(ask, height).catch(() => null))
  const told = prices.filter((price) => price !== null)
  // a cap of nothing would be the least one, at which a busy chain mines nothing
  if (told.length === 0) throw transient('eth_feeHistory: no price of the last day')
  return told
}

async function priceAt(ask: Call, height: number): Promise<bigint> {
  const { baseFeePerGas, reward } = await ask<FeeHistory>('eth_feeHistory', [
    ...['0x1', `0x${height.toString(16)}`],
    [MEDIAN_PERCENTILE],
  ])
  return BigInt(baseFeePerGas[0] ?? '0x0') + BigInt(reward?.[0]?.[0] ?? '0x0')
}

/**
 * Creates a reader of the highest price of gas at which anything is signed on a chain, wei, read anew every hour where
 * none is configured. @returns a function that throws ChainUnavailableError while no node has told a day's prices
 */
export function createGasPriceCap(
  rpc: Rpc,
  { local, maxGasPriceWei }: Pick<ChainConfig, 'local' | 'maxGasPriceWei'>,
): () => Promise<bigint> {
  if (maxGasPriceWei !== undefined || local) return async () => maxGasPriceWei ?? NO_CAP_WEI
  const ask = async (): Promise<bigint> => {
    const caps = (await rpc.onEveryNode(readDay)).map(priceCapWei)
    return caps.reduce((least, cap) => (cap < least ? cap : least))
  }
  return servedFor(HOUR_MS, ask)
}
