import bs58 from 'bs58'
import { expect, it } from 'vitest'
import { NodeError, RpcError } from '../../chains/rpc/errors.js'
import { type RpcCall, RpcPool } from '../../chains/rpc/nodes.js'
import type { ListedDecodedTransaction } from '../../chains/solana/reads.js'
import { createRegistrarClient, registrarIdl } from '../../chains/solana/registrar.js'
import {
  readAgreedTransactions,
  readUnconfirmedTransactions,
  type TransactionReadOptions,
} from './check.js'

const PROGRAM = '11111111111111111111111111111111'
const SLOT = 7

/** An event of a payment by its sequence. */
function eventOf(kind: string, sequence = 1): Buffer {
  const { discriminator } = registrarIdl.events!.find(({ name }) => name === kind)!
  const fields = Buffer.alloc(224)
  fields.writeUInt8(sequence)
  return Buffer.concat([Buffer.from('e445a52e51cb9a1d', 'hex'), Buffer.from(discriminator), fields])
}

/** What a node returns for a transaction: its event, or a transaction without events. */
interface Shown {
  event?: Buffer
  slot?: number
}
interface NodeAnswers {
  /** Transactions by signature. The node does not have any others. */
  has: Record<string, Shown | 'unshown'>
  head?: number
  headMs?: number
  oldest?: number
}

const VERSION = new NodeError({
  code: -32_015,
  message: 'Transaction version (1) is not supported',
})

const nodeOf = ({ has, head = SLOT, headMs = Date.now(), oldest = 0 }: NodeAnswers): RpcCall => {
  const answers: Record<string, unknown> = {
    getFirstAvailableBlock: oldest,
    getSlot: head,
    getBlockTime: headMs / 1_000,
  }
  return async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    if (method !== 'getTransaction') return answers[method] as T
    const signature = params[0] as string
    const shown = has[signature]
    if (!shown) return null as T
    if (shown === 'unshown')
      throw new RpcError('refused', VERSION.message, null, { cause: VERSION })
    const { event, slot = SLOT } = shown
    const innerInstructions = event
      ? [{ instructions: [{ programIdIndex: 0, data: bs58.encode(event) }] }]
      : []
    const transaction = { signatures: [signature], message: { accountKeys: [PROGRAM] } }
    return { slot, meta: { err: null, innerInstructions }, transaction } as T
  }
}

/** Takes listed transactions from some nodes, in their order. */
async function take(
  answers: readonly (NodeAnswers | RpcCall)[],
  signatures = ['a'],
  taken: ListedDecodedTransaction[] = [],
): Promise<ListedDecodedTransaction[]> {
  const nodes = answers.map((one) => (typeof one === 'function' ? one : nodeOf(one)))
  const rpc = new RpcPool<string>({
    label: 'solana',
    urls: nodes.map((_, i) => `http://${i}`),
    behindBlocks: 50,
    connect: (url) => nodes[Number(url.at(-1))]!,
    readGenesis: async () => 'genesis',
    headOf: async () => ({ height: SLOT, timeMs: null }),
  })
  const options: TransactionReadOptions = {
    rpc,
    registrar: createRegistrarClient(PROGRAM),
    commitment: 'finalized',
    signal: new AbortController().signal,
  }
  const listed = signatures.map((signature) => ({ signature, slot: SLOT }))
  for await (const read of readAgreedTransactions(options, listed))
    taken.push(...read.filter((tx) => tx !== null))
  return taken
}
const signaturesOf = (txs: readonly ListedDecodedTransaction[]) =>
  txs.map(({ signature }) => signature)

const PAID = { event: eventOf('PaymentReclaimed') }
const OTHER = { event: eventOf('PaymentReclaimed', 2) }
const PLAIN = {}
const ONE: NodeAnswers = { has: { a: PAID } }
const ODD: NodeAnswers = { has: { a: OTHER } }
const IDLE: NodeAnswers = { has: { a: PLAIN } }
const NONE: NodeAnswers = { has: {} }
const UNSHOWN: NodeAnswers = { has: { a: 'unshown' } }
const CONTRADICT = 'contradict each other'

it.concurrent.each([
  'RegistrationPaid',
  'CommunityPaid',
  'CommunityRefused',
  'CommunityReleased',
  'PaymentSettled',
])('a %s is accepted where two nodes show the same', async (kind) => {
  const one: NodeAnswers = { has: { a: { event: eventOf(kind) } } }
  const other: NodeAnswers = { has: { a: { event: eventOf(kind, 2) } } }
  expect(await take([one!, one!])).toEqual(await take([one!]))
  await expect(take([one!, other!]), 'another event').rejects.toThrow(CONTRADICT)
  await expect(take([one!, IDLE!]), 'no event').rejects.toThrow(CONTRADICT)
  await expect(take([one!, NONE!]), 'no transaction').rejects.toThrow(CONTRADICT)
})

it.concurrent.each([
  ['its slot', { has: { a: { ...PAID, slot: SLOT + 1 } } }],
  ['whether it did anything, as the first', IDLE!],
])('contradicting answers about %s are refused', async (_, other) => {
  await expect(take([ONE!, other]), 'the other second').rejects.toThrow(CONTRADICT)
  await expect(take([other, ONE!]), 'the other first').rejects.toThrow(CONTRADICT)
})

it.concurrent.each([
  ['says otherwise', ODD!],
  ['shows nothing', IDLE!],
  ['does not have what it lists', NONE!],
])('of three one that %s is outvoted', async (_, odd) => {
  const alone = await take([ONE!])
  expect(await take([odd, ONE!, ONE!]), 'the first').toEqual(alone)
  expect(await take([ONE!, odd, ONE!]), 'the second').toEqual(alone)
  expect(await take([ONE!, ONE!, odd]), 'the third').toEqual(alone)
})

it.concurrent('a transaction that only one of three nodes lists delays nothing', async () => {
  const honest = { has: { b: PAID } }
  expect(
    signaturesOf(await take([{ has: { a: PAID, b: PAID } }, honest, honest], ['a', 'b'])),
  ).toEqual(['b'])
})

it.concurrent.each<[string, NodeAnswers]>([
  ['came to a stop', { has: {}, head: SLOT - 1, headMs: Date.now() - 120_000 }],
  ['keeps but what is newer', { has: {}, oldest: SLOT + 1 }],
])('a node that %s has not answered: the payment waits for two', async (_, second) => {
  await expect(take([ONE, second])).rejects.toThrow('two nodes have to')
  expect(await take([ONE, second, ONE])).toEqual(await take([ONE]))
  await expect(take([ONE, second, ODD])).rejects.toThrow(CONTRADICT)
})

it.concurrent.each<[string, NodeAnswers]>([
  ['has not answered for a moment only', { has: {}, head: SLOT - 1, headMs: Date.now() }],
  ['has come to the slot', { has: {}, head: SLOT, headMs: Date.now() - 120_000 }],
])('a node that %s denies', async (_, second) => {
  await expect(take([ONE!, second])).rejects.toThrow(CONTRADICT)
})

it.concurrent('a transaction version that one node does not support is read from two others; without two it stays open', async () => {
  const alone = await take([ONE])
  await expect(take([UNSHOWN, ONE]), 'the first of two').rejects.toThrow('two nodes have to')
  await expect(take([ONE, UNSHOWN]), 'the second of two').rejects.toThrow('two nodes have to')
  expect(await take([UNSHOWN, ONE, ONE]), 'the first of three').toEqual(alone)
  expect(await take([ONE, UNSHOWN, ONE]), 'the second of three').toEqual(alone)
  expect(await take([UNSHOWN, UNSHOWN])).toEqual([])
})

const BOTH: NodeAnswers = { has: { a: PAID, b: PAID } }
const LIMITED: RpcCall = async (method, params) => {
  if (method === 'getTransaction' && params[0] === 'b')
    throw new RpcError('rate_limited', 'HTTP 429', 1_500)
  return nodeOf(BOTH)(method, params)
}

it.concurrent.each<[string, (NodeAnswers | RpcCall)[]]>([
  ['a node has not come to', [BOTH, ONE!]],
  ['is limited', [LIMITED]],
])(
  'what comes before one that %s is taken',
  async (_, nodes) => {
    const taken: ListedDecodedTransaction[] = []
    await expect(take(nodes, ['a', 'b'], taken)).rejects.toThrow()
    expect(signaturesOf(taken)).toEqual(['a'])
  },
  20_000,
)

it('of unconfirmed transactions, which a stranger may make many of, a bounded number is read', async () => {
  const most = 200
  const listed = Array.from({ length: 10 * most }, (_, i) => ({
    signature: `${i}`,
    slot: SLOT,
    err: null,
  }))
  const has = Object.fromEntries(listed.map(({ signature }) => [signature, PLAIN]))
  const node = nodeOf({ has })
  let reads = 0
  const call: RpcCall = async <T>(method: string, params: readonly unknown[]): Promise<T> => {
    if (method === 'getTransaction') reads += 1
    if (method !== 'getSignaturesForAddress') return node(method, params)
    const { before } = params[1] as { before?: string }
    const from = before === undefined ? 0 : Number(before) + 1
    return listed.slice(from, from + 1_000) as T
  }
  const read = await readUnconfirmedTransactions(call, createRegistrarClient(PROGRAM), null, 0)
  expect([reads, read.length]).toEqual([most, most])
  // oldest first: the last of the list
  expect(signaturesOf(read)[0]).toBe(`${listed.length - 1}`)
})
