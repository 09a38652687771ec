import { expect, it } from 'vitest'
import { parseChainsFile } from '../../config/chainsFile.js'
import type { Hex } from '../chain.js'
import { type RpcCall, RpcPool } from '../rpc/nodes.js'
import { createEvmChain } from './chain.js'

const SENDER = `0x${'5e'.repeat(20)}` as const
const REPLACEMENT = `0x${'ab'.repeat(32)}` as const
const NONCE = 7
const BLOCK_NUMBER = 20
const quantityOf = (value: number) => `0x${value.toString(16)}`

/**
 * A node on whose chain the sender's nonce is used.
 * @param has whether the node returns the transaction that used it
 */
const nodeWithUsedNonce =
  (has: boolean): RpcCall =>
  async <T>(method: string, [, block]: readonly unknown[]) => {
    const tx = {
      hash: REPLACEMENT,
      from: SENDER,
      nonce: quantityOf(NONCE),
      blockNumber: quantityOf(BLOCK_NUMBER),
      to: null,
      input: '0x',
    }
    const answers: Record<string, unknown> = {
      eth_getTransactionCount: quantityOf(Number(block) >= BLOCK_NUMBER ? NONCE + 1 : NONCE),
      eth_getBlockByNumber: { transactions: [tx] },
      eth_getTransactionByHash: has ? tx : null,
    }
    return answers[method] as T
  }

function chainOn(...nodes: RpcCall[]) {
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
  const rpc = new RpcPool<Hex>({
    label: '1',
    urls: nodes.map((_, i) => `http://${i}`),
    behindBlocks: 3,
    connect: (url) => nodes[Number(url.at(-1))]!,
    readGenesis: async () => '0x',
    headOf: async (call) => {
      const head = await call<{ number: Hex }>('eth_getBlockByNumber', ['latest', false])
      return { height: Number(head.number), timeMs: Date.now() }
    },
  })
  return createEvmChain({ config: config!, chain: 1, rpc })
}

it.each([
  ['that another node has', [nodeWithUsedNonce(true), nodeWithUsedNonce(true)]],
  ['where there is one node', [nodeWithUsedNonce(true)]],
])('a replacement %s is followed', async (_, nodes) => {
  expect(await chainOn(...nodes).replacement(SENDER, NONCE, BLOCK_NUMBER + 5)).toBe(REPLACEMENT)
})

it('a transaction of a stale fork, which another node does not have, is not accepted', async () => {
  expect(
    await chainOn(nodeWithUsedNonce(true), nodeWithUsedNonce(false)).replacement(
      SENDER,
      NONCE,
      BLOCK_NUMBER + 5,
    ),
  ).toBe(null)
})

/** A node whose newest block has the height that the test sets. */
const nodeAtHeight =
  (node: { height: number }): RpcCall =>
  async <T>() =>
    ({
      number: quantityOf(node.height),
      hash: `0x${'ab'.repeat(32)}`,
      parentHash: `0x${'cd'.repeat(32)}`,
      timestamp: '0x1',
    }) as T

it.each([
  ['two others have reached', [19, 20, 20], 20],
  ['one other has reached, which may be made up', [19, 22, 19], 19],
  ['it has reached itself', [20, 19, 19], 20],
])(
  'once heads are compared, the newest block is the first node’s, or that which %s',
  async (_, heights, newest) => {
    const chain = chainOn(...heights.map((height) => nodeAtHeight({ height })))
    await chain.rpc.checkHeads()
    expect((await chain.heads()).latest.number).toBe(newest)
  },
)
