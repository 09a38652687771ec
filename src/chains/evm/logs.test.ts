import { expect, it } from 'vitest'
import type { RpcCall } from '../rpc/nodes.js'
import { getBlockHeader } from './logs.js'

const hashOf = (byte: string) => `0x${byte.repeat(32)}` as const

it('a header that a node gives for a hash has to have that hash', async () => {
  const header = {
    number: '0x5',
    hash: hashOf('ab'),
    parentHash: hashOf('aa'),
    timestamp: '0x1',
  }
  const call: RpcCall = async <T>() => header as T
  expect(await getBlockHeader(call, hashOf('ab'))).toMatchObject({ number: 5, hash: hashOf('ab') })
  await expect(getBlockHeader(call, hashOf('cd'))).rejects.toThrow(
    `eth_getBlockByHash: asked for block ${hashOf('cd')}, got ${hashOf('ab')}`,
  )
  expect(await getBlockHeader(call, 'latest')).toMatchObject({ number: 5 })
})
