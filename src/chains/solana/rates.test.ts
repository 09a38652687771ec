import { encodeAbiParameters, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Call, NodePool } from '../rpc/nodes.js'
import { createRates } from './rates.js'

const NOW_S = 1_800_000_000
const feeds = {
  ethUsd: `0x${'0e'.repeat(20)}`,
  solUsd: `0x${'05'.repeat(20)}`,
  maxAgeSeconds: { solUsd: 600, ethUsd: 600 },
  maxMovePercent: 10,
} as const
/** Time by which the answers that are served have expired. */
const EXPIRED_MS = 3_000
const DECIMALS = toFunctionSelector('decimals()')

const GWEI = 10n ** 9n

/** A node by its price of SOL, in dollars. */
const nodeOf =
  (solUsd: number, gasWei = () => GWEI): Call =>
  async <T>(method: string, [tx]: readonly unknown[]) => {
    if (method === 'eth_gasPrice') return `0x${gasWei().toString(16)}` as T
    const { to, data } = tx as { to: string; data: string }
    if (data.startsWith(DECIMALS)) return encodeAbiParameters([{ type: 'uint8' }], [8]) as T
    const price = BigInt(to === feeds.solUsd ? solUsd : 3_000) * 10n ** 8n
    const words = [1n, price, BigInt(NOW_S), BigInt(NOW_S), 1n]
    return encodeAbiParameters(
      words.map(() => ({ type: 'uint256' })),
      words,
    ) as T
  }

const hubOf = (...nodes: Call[]) =>
  new NodePool<string>({
    ...{ label: '1', urls: nodes.map((_, i) => `http://${i}`), behindBlocks: 3 },
    connect: (url) => nodes[Number(url.at(-1))]!,
    ...{ readGenesis: async () => 'genesis', headOf: async () => ({ height: 1, timeMs: null }) },
  })

let atMs = 1
beforeAll(() => vi.spyOn(performance, 'now').mockImplementation(() => (atMs += EXPIRED_MS)))
afterAll(() => vi.restoreAllMocks())

describe('a price', () => {
  it('is taken where another node shows about the same, or where there is none', async () => {
    for (const others of [[nodeOf(155)], []]) {
      const rates = createRates(hubOf(nodeOf(150), ...others), feeds, () => NOW_S * 1_000)
      expect(await rates()).toMatchObject({ solUsd: { answer: 150n * 10n ** 8n } })
    }
  })

  it('is refused where another node shows a different one', async () => {
    const rates = createRates(hubOf(nodeOf(150_000), nodeOf(150)), feeds, () => NOW_S * 1_000)
    await expect(rates()).rejects.toThrow('contradict each other')
  })
})

it('is refused at the age that its own feed allows', async () => {
  const maxAgeSeconds = { solUsd: 600, ethUsd: 60 }
  const rates = createRates(hubOf(nodeOf(150)), { ...feeds, maxAgeSeconds }, () => (NOW_S + 61) * 1_000)
  await expect(rates()).rejects.toThrow(/the price feed ethUsd .* 61 s old/)
})

it('is refused where it jumped since the last quotes', async () => {
  let [nowMs, solUsd] = [NOW_S * 1_000, 150]
  const rates = createRates(
    hubOf((...call) => nodeOf(solUsd)(...call)),
    feeds,
    () => nowMs,
  )
  await rates()
  ;[nowMs, solUsd] = [nowMs + 3_000, 200]
  await expect(rates()).rejects.toThrow(/the price feed solUsd .* is refused/)
})

it('takes the least price of gas that a node tells: nothing else bounds it', async () => {
  for (const [first, second] of [
    [1_000n, 3n],
    [3n, 1_000n],
  ] as const) {
    const hub = hubOf(
      nodeOf(150, () => first * GWEI),
      nodeOf(150, () => second * GWEI),
    )
    expect((await createRates(hub, feeds, () => NOW_S * 1_000)()).gasPriceWei).toBe(3n * GWEI)
  }
})

it('compares no price with one from before the clock was set back', async () => {
  let [nowMs, solUsd] = [(NOW_S + 500) * 1_000, 150]
  const rates = createRates(
    hubOf((...call) => nodeOf(solUsd)(...call)),
    feeds,
    () => nowMs,
  )
  await rates()
  ;[nowMs, solUsd] = [nowMs - 3_600_000, 200]
  expect(await rates()).toMatchObject({ solUsd: { answer: 200n * 10n ** 8n } })
})
