import { toEventSelector } from 'viem'
import { expect, it } from 'vitest'
import type { Hex } from '../chain.js'
import type { RpcCall } from '../rpc/nodes.js'
import { decodeLogs, RECEIVED_EVENT_TOPIC } from './decodeLogs.js'
import type { RawLog } from './logs.js'

const CONTRACT: Hex = `0x${'11'.repeat(20)}`
const CREDITED_TOPIC = toEventSelector('Credited(bytes32,uint32,uint256)')
const wordOf = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`
const neverCalled: RpcCall = async () => Promise.reject(new Error('nothing is asked'))

function logWith(logIndex: number, topics: Hex[], data: Hex): RawLog {
  const blockHash = wordOf(7n)
  const transactionHash = wordOf(8n)
  return {
    address: CONTRACT,
    topics,
    data,
    blockNumber: '0x5',
    blockHash,
    transactionHash,
    logIndex: `0x${logIndex}`,
  }
}

it('skips a number of a watched contract that the tables can’t hold, and refuses such a number of ours', async () => {
  const received = (at: number, bids: bigint) =>
    logWith(at, [RECEIVED_EVENT_TOPIC, wordOf(1n), wordOf(2n)], wordOf(bids))
  const credited = (at: number, eid: bigint) =>
    logWith(at, [CREDITED_TOPIC, wordOf(1n), wordOf(eid)], wordOf(2n ** 256n - 1n))
  const logs = [
    received(1, 3n),
    received(2, 2n ** 31n),
    received(3, 2n ** 256n - 1n),
    credited(4, 2n ** 32n - 1n),
  ]
  const ours = { role: 'hub', contract: CONTRACT, chain: 1, chainId: 1 } as const
  const watched = { ...ours, watchOnly: { minimum: [], quotes: false } }
  const odd = [...logs, credited(5, 2n ** 64n)]
  const found = await decodeLogs(neverCalled, watched, odd, () => 0)
  for (const one of [received(2, 2n ** 31n), credited(5, 2n ** 64n)])
    await expect(decodeLogs(neverCalled, ours, [one], () => 0)).rejects.toThrow(
      /is not one that .* emits/,
    )
  expect(found.received.map(({ logIndex, bids }) => [logIndex, bids])).toEqual([[1, 3]])
  expect(found.credits.map(({ logIndex, eid }) => [logIndex, eid])).toEqual([[4, 2 ** 32 - 1]])
})
