import { expect, it } from 'vitest'
import { parseChainsFile } from '../../config/chainsFile.js'
import type { Call, Rpc } from '../rpc/evm.js'
import { createEvmChain } from './chain.js'

const SENDER = `0x${'5e'.repeat(20)}` as const
const REPLACEMENT = `0x${'ab'.repeat(32)}` as const
const [NONCE, BLOCK] = [7, 20]
const hex = (value: number) => `0x${value.toString(16)}`

/** A node by whose chain a sender's nonce was used in a block, by a transaction that it has or has not. */
const nodeOf =
  (has: boolean): Call =>
  async <T>(method: string, [, block]: readonly unknown[]) => {
    const tx = { hash: REPLACEMENT, from: SENDER, nonce: hex(NONCE), blockNumber: hex(BLOCK), to: null, input: '0x' }
    const answers: Record<string, unknown> = {
      eth_getTransactionCount: hex(Number(block) >= BLOCK ? NONCE + 1 : NONCE),
      eth_getBlockByNumber: { transactions: [tx] },
      eth_getTransactionByHash: has ? tx : null,
    }
    return answers[method] as T
  }

function chainOn(first: Call, second: Call | null) {
  const file = {
    ...{ network: 'mainnet', label: '1', role: 'hub', chainId: 1, rpcUrls: ['http://127.0.0.1:1'] },
    ...{ contract: `0x${'11'.repeat(20)}`, confirmation: { blocks: 2 } },
  }
  const [config] = parseChainsFile({ chains: [file] }, 'test').chains
  const rpc = {
    onOneNode: (work: (call: Call) => Promise<unknown>) => work(first),
    onAnotherNode: async (_: Call, work: (call: Call) => Promise<unknown>) => (second ? work(second) : null),
  } as unknown as Rpc
  return createEvmChain({ config: config!, chain: 1, rpc })
}

it.each([
  ['that another node has', nodeOf(true), REPLACEMENT],
  ['where there is one node', null, REPLACEMENT],
  ['of a stale fork, which another node has not', nodeOf(false), null],
])('a replacement %s', async (_, second, found) => {
  expect(await chainOn(nodeOf(true), second).replacement(SENDER, NONCE, BLOCK + 5)).toBe(found)
})
