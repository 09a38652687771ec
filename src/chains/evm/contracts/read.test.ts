import { pad } from 'viem'
import { expect, it } from 'vitest'
import { type RpcCall, RpcPool } from '../../rpc/nodes.js'
import { hubAbi } from './index.js'
import { createContractReader } from './read.js'

it('an answer that the contract can’t have given is a fault of its node, and another node is asked', async () => {
  const known = pad('0x07')
  const answers: Record<string, unknown> = { 'http://odd': '0x01', 'http://good': known }
  const rpc = new RpcPool<string>({
    label: '10',
    urls: Object.keys(answers),
    behindBlocks: 50,
    readGenesis: async () => 'genesis',
    connect:
      (url): RpcCall =>
      async <T>() =>
        answers[url] as T,
    headOf: async () => ({ height: 8, timeMs: null }),
  })
  const hub = `0x${'11'.repeat(20)}` as const
  const limit = await rpc.onOneNode((call) =>
    createContractReader(call, hub, hubAbi)('deliverLimit'),
  )
  expect(limit).toBe(7n)
})
