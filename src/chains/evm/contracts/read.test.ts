import { pad } from 'viem'
import { expect, it } from 'vitest'
import { type Call, NodePool } from '../../rpc/nodes.js'
import { areOfContract } from '../community/ending.js'

it('an answer that is none of the contract’s is its node’s fault: another node’s counts', async () => {
  const known = `0x${['0x20', '0x01', '0x01'].map((word) => pad(word as '0x20').slice(2)).join('')}`
  const answers: Record<string, unknown> = { 'http://odd': '0x01', 'http://good': known }
  const rpc = new NodePool<string>({
    ...{ label: '10', urls: Object.keys(answers), behindBlocks: 50, readGenesis: async () => 'genesis' },
    connect:
      (url): Call =>
      async <T>() =>
        answers[url] as T,
    headOf: async () => ({ height: 8, timeMs: null }),
  })
  const looks = await rpc.onTwoNodes((call) => areOfContract(call, `0x${'11'.repeat(20)}`, [Buffer.alloc(32, 1)]))
  expect(looks).toEqual([[true]])
})
