import { expect, it } from 'vitest'
import type { Hex } from '../chain.js'
import type { Call, Rpc } from '../rpc/evm.js'
import { readCheckedLogs } from './rangeCheck.js'

const CONTRACT: Hex = `0x${'11'.repeat(20)}`
const TOPIC: Hex = `0x${'22'.repeat(32)}`
const quantity = (value: number): Hex => `0x${value.toString(16)}`
const hashOf = (block: number): Hex => `0x${block.toString(16).padStart(64, '0')}`
const log = (block: number, data: Hex = '0x') => ({
  ...{ address: CONTRACT, topics: [TOPIC], data, transactionHash: hashOf(block), logIndex: '0x0' },
  ...{ blockNumber: quantity(block), blockHash: hashOf(block) },
})
type Log = ReturnType<typeof log>

/** A node that lists some logs of a range, and those of a block as they are. */
const node = (listed: readonly Log[]): Call => {
  return async <T>(method: string, [asked]: readonly unknown[]) => {
    if (method === 'eth_getBlockByNumber') {
      const number = Number(asked)
      const block = { number: asked, hash: hashOf(number), parentHash: hashOf(number - 1), timestamp: '0x1' }
      return { ...block, logsBloom: `0x${'f'.repeat(512)}` } as T
    }
    const { blockHash } = asked as { blockHash?: Hex }
    return (blockHash ? TRUE.filter((one) => one.blockHash === blockHash) : listed) as T
  }
}
const TRUE = [log(3), log(5)]

it.each([
  ['lacks the first', [log(5)]],
  ['lacks the last', [log(3)]],
  ['tells otherwise', [log(3, '0xff'), log(5)]],
])('of two nodes’ old logs each is read, in order, where the first %s', async (_, listed) => {
  const rpc = { onAnotherNode: (_call: Call, work: (call: Call) => unknown) => work(node(TRUE)) } as unknown as Rpc
  const range = { from: 1, to: 9, checkFrom: 10 }
  const { logs } = await readCheckedLogs(rpc, node(listed), { addresses: [CONTRACT], topics: [TOPIC] }, range)
  expect(logs).toEqual(TRUE)
})
