import { pad } from 'viem'
import { expect, it } from 'vitest'
import { type Call, NodePool } from '../../rpc/nodes.js'
import { hubAbi } from './index.js'
import { readContract } from './read.js'

it('an answer that the contract can’t have given is a fault of its node, and another node is asked', async () => {
  const known = pad('0x07')
  const answers: Record<string, unknown> = { 'http://odd': '0x01', 'http://good': known }
  const rpc = new NodePool<string>({
    label: '10',
    urls: Object.keys(answers),
    behindBlocks: 50,
    readGenesis: async () => 'genesis',
    connect:
      (url): Call =>
      async <T>() =>
        answers[url] as T,
    headOf: async () => ({ height: 8, timeMs: null }),
  })
  const question = { abi: hubAbi, functionName: 'deliverLimit' } as const
  expect(await rpc.onOneNode((call) => readContract(call, `0x${'11'.repeat(20)}`, question))).toBe(
    7n,
  )
})
