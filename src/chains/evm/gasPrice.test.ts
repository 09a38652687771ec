import { afterEach, expect, it, vi } from 'vitest'
import { ChainUnavailableError, type Hex } from '../chain.js'
import { transientError } from '../rpc/errors.js'
import type { EvmRpc, RpcCall } from '../rpc/evm.js'
import { RpcPool } from '../rpc/nodes.js'
import { createGasPriceCap } from './gasPrice.js'

const GWEI = 10n ** 9n
const HOUR_MS = 3_600_000

afterEach(() => vi.restoreAllMocks())

/** Nodes that report these prices of recent blocks, in gwei. Null: the node does not answer. */
function nodesWith(prices: readonly (bigint | null)[]): EvmRpc {
  return new RpcPool<Hex>({
    label: '1',
    urls: prices.map((_, i) => `http://${i}`),
    behindBlocks: 3,
    readGenesis: async () => '0x00',
    connect: (url): RpcCall => {
      return async <T>(method: string) => {
        const price = prices[Number(url.at(-1))] ?? null
        if (price === null) throw transientError(`${method}: no answer`)
        const fee = `0x${(price * GWEI).toString(16)}`
        const answer: unknown = method === 'eth_feeHistory' ? { baseFeePerGas: [fee, fee] } : '0x0'
        return answer as T
      }
    },
    headOf: async () => ({ height: 10, timeMs: null }),
  })
}

it.each([
  ['the only node', [5n], 5n],
  ['the lower of two', [5n, 9n], 5n],
  ['two of three, beside one with low prices', [0n, 5n, 6n], 5n],
  ['two of three, beside one with high prices', [5n, 6n, 900n], 6n],
])('the gas price cap is that of %s', async (_, prices, expected) => {
  const capWei = createGasPriceCap(nodesWith(prices), {
    local: false,
    maxGasPriceWei: undefined,
  })
  expect(await capWei()).toBe(20n * expected * GWEI)
})

it('the gas price cap is not known while only one of two nodes answers, and then the last one that both gave', async () => {
  let nowMs = 1
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const prices: (bigint | null)[] = [5n, null]
  const capWei = createGasPriceCap(nodesWith(prices), { local: false, maxGasPriceWei: undefined })
  await expect(capWei()).rejects.toThrow(ChainUnavailableError)
  prices[1] = 6n
  expect(await capWei()).toBe(100n * GWEI)

  nowMs += 2 * HOUR_MS
  prices.splice(0, 2, 900n, null)
  expect(await capWei()).toBe(100n * GWEI)
  prices[1] = 800n
  nowMs += 2 * HOUR_MS
  expect(await capWei()).toBe(16_000n * GWEI)
})
