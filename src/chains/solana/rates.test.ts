import fc from 'fast-check'
import { encodeAbiParameters, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type RpcCall, RpcPool } from '../rpc/nodes.js'
import {
  createHubPriceReader,
  type PriceFeedAnswer,
  priceFeedProblem,
  weiToLamports,
} from './rates.js'

const NOW_S = 1_800_000_000
const priceFeeds = {
  ethUsd: `0x${'0e'.repeat(20)}`,
  solUsd: `0x${'05'.repeat(20)}`,
  maxAgeSeconds: { solUsd: 600, ethUsd: 600 },
  maxMovePercent: 10,
} as const
/** Time after which cached answers have expired, ms. */
const EXPIRED_MS = 3_000
const DECIMALS_SELECTOR = toFunctionSelector('decimals()')

const GWEI = 10n ** 9n

/** A node that reports this price of SOL, in dollars. */
const nodeOf =
  (solUsd: number, gasWei = () => GWEI): RpcCall =>
  async <T>(method: string, [tx]: readonly unknown[]) => {
    if (method === 'eth_gasPrice') return `0x${gasWei().toString(16)}` as T
    const { to, data } = tx as { to: string; data: string }
    if (data.startsWith(DECIMALS_SELECTOR))
      return encodeAbiParameters([{ type: 'uint8' }], [8]) as T
    const price = BigInt(to === priceFeeds.solUsd ? solUsd : 3_000) * 10n ** 8n
    const words = [1n, price, BigInt(NOW_S), BigInt(NOW_S), 1n]
    return encodeAbiParameters(
      words.map(() => ({ type: 'uint256' })),
      words,
    ) as T
  }

const hubOf = (...nodes: RpcCall[]) =>
  new RpcPool<string>({
    label: '1',
    urls: nodes.map((_, i) => `http://${i}`),
    behindBlocks: 3,
    connect: (url) => nodes[Number(url.at(-1))]!,
    readGenesis: async () => 'genesis',
    headOf: async () => ({ height: 1, timeMs: null }),
  })

let atMs = 1
beforeAll(() => vi.spyOn(performance, 'now').mockImplementation(() => (atMs += EXPIRED_MS)))
afterAll(() => vi.restoreAllMocks())

describe('a price', () => {
  it.each([
    { name: 'another node shows about the same', others: [nodeOf(155)] },
    { name: 'there is no other node', others: [] },
  ])('is taken where $name', async ({ others }) => {
    const rates = createHubPriceReader(
      hubOf(nodeOf(150), ...others),
      priceFeeds,
      () => NOW_S * 1_000,
    )
    expect(await rates()).toMatchObject({ solUsd: { answer: 150n * 10n ** 8n } })
  })

  it('is refused where another node shows a different one', async () => {
    const rates = createHubPriceReader(
      hubOf(nodeOf(150_000), nodeOf(150)),
      priceFeeds,
      () => NOW_S * 1_000,
    )
    await expect(rates()).rejects.toThrow('contradict each other')
  })
})

it('is refused once it is older than its feed allows', async () => {
  const maxAgeSeconds = { solUsd: 600, ethUsd: 60 }
  const rates = createHubPriceReader(
    hubOf(nodeOf(150)),
    { ...priceFeeds, maxAgeSeconds },
    () => (NOW_S + 61) * 1_000,
  )
  await expect(rates()).rejects.toThrow(/the price feed ethUsd .* 61 s old/)
})

/** Reads rates while SOL is 150 $. @returns a function that reads them again some time later, when SOL is 200 $ */
async function ratesAt(atFirstMs: number) {
  let nowMs = atFirstMs
  let solUsd = 150
  const hub = hubOf((...call) => nodeOf(solUsd)(...call))
  const rates = createHubPriceReader(hub, priceFeeds, () => nowMs)
  await rates()
  const after = (laterMs: number) => {
    nowMs = nowMs + laterMs
    solUsd = 200
    return rates()
  }
  return { after }
}

it('is refused where it jumped since the last quotes', async () => {
  const { after } = await ratesAt(NOW_S * 1_000)
  await expect(after(3_000)).rejects.toThrow(/the price feed solUsd .* is refused/)
})

it.each([
  { name: 'the second', first: 1_000n, second: 3n },
  { name: 'the first', first: 3n, second: 1_000n },
])('takes the lowest gas price of the nodes: that of $name', async ({ first, second }) => {
  const hub = hubOf(
    nodeOf(150, () => first * GWEI),
    nodeOf(150, () => second * GWEI),
  )
  expect((await createHubPriceReader(hub, priceFeeds, () => NOW_S * 1_000)()).gasPriceWei).toBe(
    3n * GWEI,
  )
})

it('compares no price with one from before the clock was set back', async () => {
  const { after } = await ratesAt((NOW_S + 500) * 1_000)
  expect(await after(-3_600_000)).toMatchObject({ solUsd: { answer: 200n * 10n ** 8n } })
})

const PRICE_BOUNDS = { maxAgeSeconds: 3_600, maxMovePercent: 10 }
const priceOf = (answer: bigint, decimals = 8, updatedAtS = NOW_S): PriceFeedAnswer => ({
  answer,
  decimals,
  updatedAtS,
})

it.each<[string, PriceFeedAnswer, PriceFeedAnswer | null, RegExp | null]>([
  ['fresh and first', priceOf(200n), null, null],
  ['as old as allowed', priceOf(200n, 8, NOW_S - 3_600), null, null],
  ['stale', priceOf(200n, 8, NOW_S - 3_601), null, /3601 s old/],
  ['set ahead of our clock', priceOf(200n, 8, NOW_S + 60), null, null],
  ['zero', priceOf(0n), null, /not above zero/],
  ['negative', priceOf(-1n), priceOf(100n), /not above zero/],
  ['up by the bound', priceOf(110n), priceOf(100n), null],
  ['up by more', priceOf(111n), priceOf(100n), /moved by more than 10 %/],
  ['down by the bound', priceOf(90n), priceOf(100n), null],
  ['down by more', priceOf(89n), priceOf(100n), /moved/],
  ['the same in other decimals', priceOf(10_000n, 10), priceOf(100n, 8), null],
])('a price is judged: %s', (_, now, earlier, problem) => {
  const found = priceFeedProblem(now, earlier, PRICE_BOUNDS, NOW_S)
  if (problem) expect(found).toMatch(problem)
  else expect(found).toBeNull()
})

describe('a bid in lamports', () => {
  it('is what it is worth: 0.01 ETH at 4,000 $ are 0.2 SOL at 200 $', () => {
    const rates = { ethUsd: priceOf(4_000n * 10n ** 8n), solUsd: priceOf(200n * 10n ** 18n, 18) }
    expect(weiToLamports(10n ** 16n, rates)).toBe(200_000_000n)
    expect(weiToLamports(1n, rates)).toBe(1n)
    expect(weiToLamports(0n, rates)).toBe(0n)
  })

  it('is never below its worth, and less than a lamport above it', () => {
    const answer = fc.bigInt(1n, 10n ** 24n)
    const decimals = fc.integer({ min: 0, max: 18 })
    fc.assert(
      fc.property(
        fc.bigInt(0n, 2n ** 128n),
        answer,
        answer,
        decimals,
        decimals,
        (wei, eth, sol, ethDecimals, solDecimals) => {
          const lamports = weiToLamports(wei, {
            ethUsd: priceOf(eth, ethDecimals),
            solUsd: priceOf(sol, solDecimals),
          })
          const worth = wei * eth * 10n ** BigInt(solDecimals)
          const of = (n: bigint) => n * sol * 10n ** BigInt(ethDecimals) * 10n ** 9n
          expect(of(lamports) >= worth).toBe(true)
          expect(lamports === 0n || of(lamports - 1n) < worth).toBe(true)
        },
      ),
    )
  })
})
