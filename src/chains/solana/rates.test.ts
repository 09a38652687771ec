import { encodeAbiParameters, toFunctionSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Call, Nodes } from '../rpc/nodes.js'
import { createRates } from './rates.js'

const NOW_S = 1_800_000_000
const feeds = {
  ethUsd: `0x${'0e'.repeat(20)}`,
  solUsd: `0x${'05'.repeat(20)}`,
  maxAgeSeconds: { solUsd: 600, ethUsd: 600 },
  maxMovePercent: 10,
} as const
const DECIMALS = toFunctionSelector('decimals()')

const GWEI = 10n ** 9n

/** A node by its price of SOL, in dollars, and of gas. */
const nodeOf =
  (solUsd: number, gasPriceWei = () => GWEI): Call =>
  async <T>(method: string, [tx]: readonly unknown[]) => {
    if (method === 'eth_gasPrice') return `0x${gasPriceWei().toString(16)}` as T
    const { to, data } = tx as { to: string; data: string }
    if (data.startsWith(DECIMALS)) return encodeAbiParameters([{ type: 'uint8' }], [8]) as T
    const price = BigInt(to === feeds.solUsd ? solUsd : 3_000) * 10n ** 8n
    const words = [1n, price, BigInt(NOW_S), BigInt(NOW_S), 1n]
    return encodeAbiParameters(
      words.map(() => ({ type: 'uint256' })),
      words,
    ) as T
  }

const hubOf = (first: Call, second: Call | null) =>
  ({
    label: '1',
    onOneNode: <T>(work: (call: Call) => Promise<T>) => work(first),
    onAnotherNode: async <T>(_than: Call, work: (call: Call) => Promise<T>) => (second ? work(second) : null),
  }) as Partial<Nodes> as Nodes

describe('a price that nothing is compared with yet', () => {
  it('is taken where another node shows about the same, or where there is none', async () => {
    for (const second of [nodeOf(155), null]) {
      const rates = createRates(hubOf(nodeOf(150), second), feeds, () => NOW_S * 1_000)
      expect(await rates()).toMatchObject({ solUsd: { answer: 150n * 10n ** 8n } })
    }
  })

  it('is refused where another node shows a different one', async () => {
    const rates = createRates(hubOf(nodeOf(150_000), nodeOf(150)), feeds, () => NOW_S * 1_000)
    await expect(rates()).rejects.toThrow(/the price feed solUsd .* is refused/)
  })
})

it('is refused at the age that its own feed allows', async () => {
  const maxAgeSeconds = { solUsd: 600, ethUsd: 60 }
  const rates = createRates(hubOf(nodeOf(150), null), { ...feeds, maxAgeSeconds }, () => (NOW_S + 61) * 1_000)
  await expect(rates()).rejects.toThrow(/the price feed ethUsd .* 61 s old/)
})

it('asks no second node while the last price is remembered', async () => {
  let [nowMs, asked] = [NOW_S * 1_000, 0]
  const second: Call = (...call) => {
    asked += 1
    return nodeOf(150)(...call)
  }
  const rates = createRates(hubOf(nodeOf(150), second), feeds, () => nowMs)
  await rates()
  const once = asked
  nowMs += 60_000
  await rates()
  expect([once > 0, asked]).toEqual([true, once])
})

it('takes the lower of two gas prices where nothing is known of it, or where it has doubled', async () => {
  let [nowMs, gas] = [NOW_S * 1_000, 1_000n * GWEI]
  const hub = hubOf(
    nodeOf(150, () => gas),
    nodeOf(150, () => 3n * GWEI),
  )
  const rates = createRates(hub, feeds, () => nowMs)
  const quoted: bigint[] = []
  for (gas of [1_000n * GWEI, 4n * GWEI, 1_000n * GWEI, 2n * GWEI]) {
    quoted.push((await rates()).gasPriceWei)
    nowMs += 3_000
  }
  expect(quoted).toEqual([3n * GWEI, 4n * GWEI, 3n * GWEI, 2n * GWEI])
})

it('compares no price with one from before the clock was set back', async () => {
  let [nowMs, solUsd] = [(NOW_S + 500) * 1_000, 150]
  const rates = createRates(
    hubOf((...call) => nodeOf(solUsd)(...call), null),
    feeds,
    () => nowMs,
  )
  await rates()
  ;[nowMs, solUsd] = [nowMs - 3_600_000, 200]
  expect(await rates()).toMatchObject({ solUsd: { answer: 200n * 10n ** 8n } })
})
