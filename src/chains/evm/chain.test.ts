import { expect, it } from 'vitest'
import { parseChainsFile } from '../../config/chainsFile.js'
import type { Hex } from '../chain.js'
import { type Call, NodePool } from '../rpc/nodes.js'
import { createEvmChain } from './chain.js'

const SENDER = `0x${'5e'.repeat(20)}` as const
const REPLACEMENT = `0x${'ab'.repeat(32)}` as const
const NONCE = 7
const BLOCK = 20
const hex = (value: number) => `0x${value.toString(16)}`

/** A node by whose chain a sender's nonce was used in a block, by a transaction that it has or has not. */
const nodeOf =
  (has: boolean): Call =>
  async <T>(method: string, [, block]: readonly unknown[]) => {
    const tx = {
      hash: REPLACEMENT,
      from: SENDER,
      nonce: hex(NONCE),
      blockNumber: hex(BLOCK),
      to: null,
      input: '0x',
    }
    const answers: Record<string, unknown> = {
      eth_getTransactionCount: hex(Number(block) >= BLOCK ? NONCE + 1 : NONCE),
      eth_getBlockByNumber: { transactions: [tx] },
      eth_getTransactionByHash: has ? tx : null,
    }
    return answers[method] as T
  }

function chainOn(...nodes: Call[]) {
  const file = {
    network: 'mainnet',
    label: '1',
    role: 'hub',
    chainId: 1,
    rpcUrls: ['http://127.0.0.1:1'],
    contract: `0x${'11'.repeat(20)}`,
    confirmation: { blocks: 2 },
  }
  const [config] = parseChainsFile({ chains: [file] }, 'test').chains
  const rpc = new NodePool<Hex>({
    label: '1',
    urls: nodes.map((_, i) => `http://${i}`),
    behindBlocks: 3,
    connect: (url) => nodes[Number(url.at(-1))]!,
    readGenesis: async () => '0x',
    headOf: async () => ({ height: BLOCK, timeMs: null }),
  })
  return createEvmChain({ config: config!, chain: 1, rpc })
}

it.each([
  ['that another node has', [nodeOf(true), nodeOf(true)]],
  ['where there is one node', [nodeOf(true)]],
])('a replacement %s is followed', async (_, nodes) => {
  expect(await chainOn(...nodes).replacement(SENDER, NONCE, BLOCK + 5)).toBe(REPLACEMENT)
})

it('one of a stale fork, which another node has not, is not believed', async () => {
  expect(await chainOn(nodeOf(true), nodeOf(false)).replacement(SENDER, NONCE, BLOCK + 5)).toBe(
    null,
  )
})
