import { parseTransaction } from 'viem'
import { describe, expect, it } from 'vitest'
import { sendDeploymentCall } from '../../src/chains/evm/deployment/send.js'
import { createEvmRpc } from '../../src/chains/rpc/evm.js'
import { executeOf } from '../support/kill.js'
import { mineAt } from '../support/miner.js'
import { useBridge, useNodeProxy } from '../support/useBridge.js'

const GWEI = 10n ** 9n
const FLOOR_WEI = 30n * GWEI
const SPEND_CAP_WEI = 10n ** 17n
const ONE_GWEI = '0x3b9aca00'

const world = useBridge()
const bridge = useNodeProxy(world)

const refusalOf = (message: string) => (answer: string) =>
  JSON.stringify({ ...JSON.parse(answer), result: undefined, error: { code: -32_000, message } })

/** The proxy is a node whose blocks show tips of 1 gwei, and whose pool refuses tips under its floor in these words. */
function enforceFloor(
  words: string,
  suggestion: string | null,
  floorWei = FLOOR_WEI,
): { refused: number } {
  const seen = { refused: 0 }
  bridge.onCall = async (method, body) => {
    if (method === 'eth_feeHistory')
      return (answer) => {
        const { result, ...rest } = JSON.parse(answer) as { result: { reward: string[][] } }
        const reward = result.reward.map(() => [ONE_GWEI])
        return JSON.stringify({ ...rest, result: { ...result, reward } })
      }
    if (method === 'eth_maxPriorityFeePerGas')
      return suggestion === null
        ? refusalOf('the method eth_maxPriorityFeePerGas does not exist')
        : (answer) => JSON.stringify({ ...JSON.parse(answer), result: suggestion })
    if (method !== 'eth_sendRawTransaction') return undefined
    const { params, id } = JSON.parse(body) as { params: [`0x${string}`]; id: number }
    const { maxPriorityFeePerGas = 0n } = parseTransaction(params[0])
    if (maxPriorityFeePerGas >= floorWei) return undefined
    seen.refused += 1
    const harmless = { jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }
    return { body: JSON.stringify(harmless), answer: refusalOf(words) }
  }
  return seen
}

describe('a pool that takes no tip below 30 gwei, where recent blocks show 1', () => {
  it.each([
    ['names no reason', 'transaction underpriced', ONE_GWEI, 12],
    [
      'names its floor',
      'transaction underpriced: gas tip cap 1000000000, minimum needed 30000000000',
      null,
      12,
    ],
    ['says what nobody knows', 'not accepted by the policy of this sequencer', ONE_GWEI, 12],
    ['suggests its floor before anything is sent', 'transaction underpriced', '0x6fc23ac00', 0],
  ])('takes the transaction below the caps: it %s', async (name, words, suggestion, most) => {
    const relayer = await world.restart({
      hub: { rpcUrls: [bridge.url] },
      file: { deliveries: { mainnet: { spendCapWei: SPEND_CAP_WEI.toString() } } },
    })
    const pool = enforceFloor(words, suggestion)
    const guid = await world.send(0, [name.replaceAll(' ', '-').slice(0, 32)])
    for (let attempt = 0; attempt < 45 && (await world.executions(guid)) === 0; attempt++) {
      world.aheadMs += 60_000
      await world.run(relayer)
    }
    expect(await world.executions(guid)).toBe(1)
    expect(pool.refused).toBeLessThanOrEqual(most)
    const { txs } = await executeOf(world, guid)
    for (const { gas, maxFeePerGas, valueWei } of txs)
      expect(gas * maxFeePerGas + valueWei).toBeLessThanOrEqual(SPEND_CAP_WEI)
  })
})

describe('a transaction of a command', () => {
  const send = async (urls = [bridge.url], maxGasPriceWei?: bigint) => {
    const chain = { label: '1', chainId: world.hub.anvil.chainId }
    const rpc = createEvmRpc({ ...chain, urls })
    const { address } = world.wallet(5)
    const at = { ...chain, rpc, local: false, maxGasPriceWei }
    return sendDeploymentCall(at, world.wallet(5), {
      to: address,
      data: '0x',
      value: 1n,
    })
  }

  it('is offered at twice the price until the pool takes it', async () => {
    const pool = enforceFloor('transaction underpriced', null, 10n * GWEI)
    const { hash } = await send()
    const { status, effectiveGasPrice } = await world.hub.public.getTransactionReceipt({ hash })
    expect(status).toBe('success')
    expect(effectiveGasPrice).toBeLessThan(20n * GWEI)
    expect(pool.refused).toBeLessThanOrEqual(4)
  })

  it('fails in one sentence where the pool takes it at no price', async () => {
    enforceFloor('transaction underpriced', null, 10n ** 18n)
    await expect(send()).rejects.toThrow(
      'Chain "1" does not take the transaction (eth_sendRawTransaction: transaction underpriced).',
    )
  })

  it('pays no price that one node of two asks alone', async () => {
    // a thousand ETH for each unit of gas would be the whole balance
    enforceFloor('transaction underpriced', `0x${(10n ** 15n).toString(16)}`, 0n)
    const { hash } = await send([bridge.url, world.hub.anvil.rpcUrl])
    const { effectiveGasPrice } = await world.hub.public.getTransactionReceipt({ hash })
    expect(effectiveGasPrice).toBeLessThan(1_000n * GWEI)
  })

  it('pays a base fee far above the usual one only up to `maxGasPriceWei`', async () => {
    const dear = 1_000n * GWEI
    await mineAt(world.hub, dear)
    const refusal = /costs more than \d+ wei, .* raise the chain's `maxGasPriceWei`/
    await expect(send()).rejects.toThrow(refusal)
    await expect(send([bridge.url], dear / 2n)).rejects.toThrow(refusal)
    const { hash } = await send([bridge.url], 2n * dear)
    const { effectiveGasPrice } = await world.hub.public.getTransactionReceipt({ hash })
    expect(effectiveGasPrice).toBeGreaterThan(dear / 2n)
    await mineAt(world.hub, GWEI)
  })
})
