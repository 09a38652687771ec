import bs58 from 'bs58'
import { expect, it } from 'vitest'
import { NodeError, RpcError } from '../../chains/rpc/errors.js'
import { type Call, NodePool } from '../../chains/rpc/nodes.js'
import type { ListedTransaction, ReadTransaction } from '../../chains/solana/reads.js'
import { createRegistrar } from '../../chains/solana/registrar.js'
import { inChunks } from './chunks.js'
import type { PaymentWatcherOptions } from './types.js'

const PROGRAM = '11111111111111111111111111111111'
const listed = ['a', 'b'].map((signature, i) => ({ signature, slot: 7 + i }))

const VERSION = new NodeError({ code: -32_015, message: 'Transaction version (1) is not supported' })

const TRANSACTION = { message: { accountKeys: [PROGRAM] } }

/** A node that refuses some transactions for their form. */
const node = (refused: readonly string[]): Call => {
  return async <T>(_method: string, [signature]: readonly unknown[]): Promise<T> => {
    if (refused.includes(signature as string)) throw new RpcError('refused', VERSION.message, null, { cause: VERSION })
    const { slot } = listed.find((one) => one.signature === signature)!
    const transaction = { ...TRANSACTION, signatures: [signature] }
    return { slot, blockTime: 1, meta: { err: null, innerInstructions: [] }, transaction } as T
  }
}

async function read(
  nodes: Record<string, Call>,
  taken: ReadTransaction[] = [],
  asked: readonly ListedTransaction[] = listed,
): Promise<ReadTransaction[]> {
  const rpc = new NodePool<string>({
    ...{ label: 'solana', urls: Object.keys(nodes), connect: (url) => nodes[url]!, behindBlocks: 50 },
    ...{ readGenesis: async () => 'genesis', headOf: async () => ({ height: 8, timeMs: null }) },
  })
  const identity = { network: 'mainnet', genesisHash: Buffer.alloc(32), programId: Buffer.alloc(32), quoteKeys: [] }
  const options = { rpc, registrar: createRegistrar(PROGRAM), commitment: 'finalized', identity, label: 'solana' }
  await inChunks(
    { ...options, signal: new AbortController().signal } as unknown as PaymentWatcherOptions,
    asked,
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

/** A node that shows the end of a payment in each transaction, and has not come to some. */
const nodeWithout = (lacked: () => readonly string[]): Call => {
  const event = Buffer.alloc(96)
  Buffer.from('e445a52e51cb9a1d4d9b0a403e14105d', 'hex').copy(event)
  const innerInstructions = [{ instructions: [{ programIdIndex: 0, data: bs58.encode(event) }] }]
  return async <T>(method: string, [signature]: readonly unknown[]): Promise<T> => {
    if (method === 'getFirstAvailableBlock') return 0 as T
    if (method === 'getSlot') return 7 as T
    if (method === 'getBlockTime') return (Date.now() / 1_000) as T
    if (lacked().includes(signature as string)) return null as T
    const shown = (await node([])(method, [signature])) as { meta: object }
    return { ...shown, meta: { ...shown.meta, innerInstructions } } as T
  }
}

it.concurrent('what two nodes agree on is not held up by a newer transaction that one of them has not come to', async () => {
  const taken: ReadTransaction[] = []
  const behind = read({ 'http://first': nodeWithout(() => []), 'http://behind': nodeWithout(() => ['b']) }, taken)
  await expect(behind).rejects.toThrow('two nodes contradict each other about b')
  expect(taken.map(({ signature }) => signature)).toEqual(['a'])
}, 20_000)

it.concurrent('and that one is taken as soon as both have it', async () => {
  let looks = 0
  const late = nodeWithout(() => (++looks < 20 ? ['b'] : []))
  const shown = await read({ 'http://first': nodeWithout(() => []), 'http://late': late })
  expect(shown.map(({ signature }) => signature)).toEqual(['a', 'b'])
}, 20_000)

it.concurrent('of three, a lie behind the truth is not believed once its node is asked last', async () => {
  const taken: ReadTransaction[] = []
  const [honest, other] = [nodeWithout(() => ['b']), nodeWithout(() => ['b'])]
  const lied = read({ 'http://liar': nodeWithout(() => []), 'http://honest': honest, 'http://other': other }, taken)
  await expect(lied).rejects.toThrow('two nodes contradict each other about b')
  expect(taken.map(({ signature }) => signature)).toEqual(['a'])
}, 30_000)

it.concurrent('a node is asked for little of what another one alone lists: it would refuse to answer', async () => {
  const lies = Array.from({ length: 400 }, (_, i) => ({ signature: `lie ${i}`, slot: 7 }))
  let asked = 0
  const count =
    (call: Call): Call =>
    (method, params) => {
      if (method === 'getTransaction') asked += 1
      return call(method, params)
    }
  const liar: Call = async <T>(method: string, [signature]: readonly unknown[]): Promise<T> => {
    const shown = (await nodeWithout(() => [])(method, ['a'])) as object
    return (
      method === 'getTransaction' ? { ...shown, transaction: { ...TRANSACTION, signatures: [signature] } } : shown
    ) as T
  }
  const honest = count(nodeWithout(() => lies.map(({ signature }) => signature)))
  await expect(read({ 'http://liar': liar, 'http://honest': honest }, [], lies)).rejects.toThrow('contradict')
  expect(asked).toBeLessThan(60)
}, 30_000)

it.concurrent('nor for much behind what needs no confirmation: a lie would be believed while it refuses', async () => {
  const kinds = [...Array.from({ length: 300 }, () => 'plain'), ...Array.from({ length: 400 }, () => 'lie')]
  const all = kinds.map((kind, i) => ({ signature: `${kind} ${i}`, slot: 7 }))
  const liar: Call = async <T>(method: string, [signature]: readonly unknown[]): Promise<T> => {
    const plain = String(signature).startsWith('plain')
    const shown = (await (plain ? node([]) : nodeWithout(() => []))(method, ['a'])) as object
    return (
      method === 'getTransaction' ? { ...shown, transaction: { ...TRANSACTION, signatures: [signature] } } : shown
    ) as T
  }
  const times: number[] = []
  const lacking = nodeWithout(() => all.map(({ signature }) => signature))
  const honest: Call = async (method, params) => {
    const nowMs = performance.now()
    if (times.push(nowMs) > 100 && nowMs - times.at(-100)! < 1_000)
      throw new RpcError('rate_limited', 'too many requests')
    return lacking(method, params)
  }
  const taken: ReadTransaction[] = []
  await expect(read({ 'http://liar': liar, 'http://honest': honest }, taken, all)).rejects.toThrow('contradict')
  expect(taken.length).toBe(300)
}, 30_000)
