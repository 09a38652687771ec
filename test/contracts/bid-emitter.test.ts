import { encodeFunctionData, type Hex, parseEventLogs } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bidEmitterAbi, bidEmitterRuntimeBytecode } from '../../contracts/evm/artifacts/local/BidEmitter.js'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { type Chain, startChain } from './support/chain.js'
import { MINIMUM_WEI, nameOf } from './support/hub.js'

const ADDRESS = '0x00000000000000000000000000000000000000b1'

let chain: Chain
beforeAll(async () => {
  chain = await startChain()
  await chain.testClient.setCode({ address: ADDRESS, bytecode: bidEmitterRuntimeBytecode })
})
afterAll(() => chain.stop())

async function emit(start: bigint, count: bigint) {
  const data = encodeFunctionData({ abi: bidEmitterAbi, functionName: 'emitBids', args: [start, count] })
  const { logs, gasUsed } = await chain.succeed({ from: chain.accounts[0]!, to: ADDRESS, data })
  return { bids: parseEventLogs({ abi: hubAbi, eventName: 'Bid', logs, strict: true }), gasUsed }
}

test("500 of the hub's Bid logs in a transaction, each with a name and a bidder of its own", async () => {
  const first = await emit(0n, 500n)
  const second = await emit(500n, 500n)
  expect(first.gasUsed).toBeLessThan(3_000_000n)
  const bids = [...first.bids, ...second.bids].map(({ args }) => args)
  expect(bids.map(({ name }) => name)).toEqual(bids.map((_, i) => nameOf(`b${`${i}`.padStart(7, '0')}`)))
  expect(bids.every(({ from, amount }) => /^0x0{24}[0-9a-f]{40}$/.test(from) && amount === MINIMUM_WEI)).toBe(true)
  expect(new Set(bids.map(({ from }) => from)).size).toBe(1000)
})

test('names go on beyond seven digits', async () => {
  const nameAt = (n: bigint): Promise<Hex> =>
    chain.publicClient.readContract({ address: ADDRESS, abi: bidEmitterAbi, functionName: 'nameOf', args: [n] })
  expect(await nameAt(9_999_999n)).toBe(nameOf('b9999999'))
  expect(await nameAt(10_000_000n)).toBe(nameOf('b10000000'))
  expect(await nameAt(10n ** 20n + 7n)).toBe(nameOf('b100000000000000000007'))
})
