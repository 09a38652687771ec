import { expect, it } from 'vitest'
import { NodeError, RpcError } from '../../chains/rpc/errors.js'
import { type Call, NodePool } from '../../chains/rpc/nodes.js'
import type { ReadTransaction } from '../../chains/solana/reads.js'
import { createRegistrar } from '../../chains/solana/registrar.js'
import { inChunks } from './chunks.js'
import type { PaymentWatcherOptions } from './types.js'

const PROGRAM = '11111111111111111111111111111111'
const listed = ['a', 'b'].map((signature, i) => ({ signature, slot: 7 + i }))

const VERSION = new NodeError({ code: -32_015, message: 'Transaction version (1) is not supported' })

/** A node that refuses some transactions for their form. */
const node = (refused: readonly string[]): Call => {
  return async <T>(_method: string, [signature]: readonly unknown[]): Promise<T> => {
    if (refused.includes(signature as string)) throw new RpcError('refused', VERSION.message, null, { cause: VERSION })
    const { slot } = listed.find((one) => one.signature === signature)!
    const transaction = { signatures: [signature], message: { accountKeys: [PROGRAM] } }
    return { slot, blockTime: 1, meta: { err: null, innerInstructions: [] }, transaction } as T
  }
}

async function read(nodes: Record<string, Call>): Promise<ReadTransaction[]> {
  const rpc = new NodePool<string>({
    ...{ label: 'solana', urls: Object.keys(nodes), connect: (url) => nodes[url]!, behindBlocks: 50 },
    ...{ readGenesis: async () => 'genesis', headOf: async () => ({ height: 8, timeMs: null }) },
  })
  const taken: ReadTransaction[] = []
  const identity = { network: 'mainnet', genesisHash: Buffer.alloc(32), programId: Buffer.alloc(32), quoteKeys: [] }
  const options = { rpc, registrar: createRegistrar(PROGRAM), commitment: 'finalized', identity, label: 'solana' }
  await inChunks(
    { ...options, signal: new AbortController().signal } as unknown as PaymentWatcherOptions,
    listed,
    async (txs) => void taken.push(...txs),
  )
  return taken
}

it('a transaction that one node can’t show is another’s to show', async () => {
  const shown = await read({ 'http://old': node(['b']), 'http://new': node([]) })
  expect(shown.map(({ signature, isOurs, unknown }) => [signature, isOurs, unknown])).toEqual([
    ['a', true, []],
    ['b', true, []],
  ])
})

it('one that none can show is laid aside', async () => {
  const shown = await read({ 'http://old': node(['b']), 'http://older': node(['a', 'b']) })
  expect(shown.map(({ signature, isOurs }) => [signature, isOurs])).toEqual([
    ['a', true],
    ['b', false],
  ])
})
