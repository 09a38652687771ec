import { expect, it } from 'vitest'
import { parseChainsFile } from '../../../config/chainsFile.js'
import { RpcError } from '../../rpc/errors.js'
import { type RpcCall, RpcPool } from '../../rpc/nodes.js'
import { createEvmChain } from '../chain.js'
import { RangeFetcher } from './rangeFetcher.js'

const BLOCK_HASH_HEX = `0x${'07'.repeat(32)}`
const BLOCK_HASH = Buffer.alloc(32, 1)

/** A fetcher over two nodes that return running hashes while `hasState` is set. */
function fetcherOver(nodes: { hasState: boolean }) {
  const section = {
    label: '1',
    role: 'hub',
    chainId: 5,
    rpcUrls: ['http://0', 'http://1'],
    contract: `0x${'11'.repeat(20)}`,
    confirmation: 'finalized',
  }
  const [config] = parseChainsFile({ chains: [section] }, 'chains.json').chains
  let calls = 0
  const call: RpcCall = async <T>(method: string) => {
    if (method !== 'eth_call') throw new RpcError('transient', 'no such block')
    calls += 1
    if (!nodes.hasState) throw new RpcError('transient', 'missing trie node')
    return BLOCK_HASH_HEX as T
  }
  const rpc = new RpcPool<`0x${string}`>({
    label: '1',
    urls: config!.rpcUrls,
    behindBlocks: 3,
    readGenesis: async () => '0x00',
    connect: () => call,
    headOf: async () => ({ height: 1, timeMs: null }),
  })
  const chain = createEvmChain({ config: config!, chain: 0, rpc })
  return { fetcher: new RangeFetcher(chain, () => false), calls: () => calls }
}

it('asks two nodes for the running hashes of a block once, also for concurrent readers', async () => {
  const { fetcher, calls } = fetcherOver({ hasState: true })
  const read = await Promise.all([fetcher.hashesAt(7, BLOCK_HASH), fetcher.hashesAt(7, BLOCK_HASH)])
  read.push(await fetcher.hashesAt(7, BLOCK_HASH))
  for (const hashes of read)
    expect(hashes).toMatchObject({ answer: [Buffer.alloc(32, 7)], nodes: 2 })
  expect(calls()).toBe(2)
})

it('asks again where nodes did not return the running hashes', async () => {
  const nodes = { hasState: false }
  const { fetcher } = fetcherOver(nodes)
  expect(await fetcher.hashesAt(7, BLOCK_HASH)).toBeNull()
  nodes.hasState = true
  expect(await fetcher.hashesAt(7, BLOCK_HASH)).toMatchObject({ nodes: 2 })
})
