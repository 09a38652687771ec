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
interface ShownTx {
  event?: Buffer
  slot?: number
}
interface NodeAnswers {
  /** Transactions by signature. The node does not have any others. */
  has: Record<string, ShownTx | 'unshown'>
  head?: number
  headMs?: number
  oldest?: number
}

const VERSION_ERROR = new NodeError({
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
      throw new RpcError('transient', VERSION_ERROR.message, null, { cause: VERSION_ERROR })
    const { event, slot = SLOT } = shown
    const innerInstructions = event
      ? [{ instructions: [{ programIdIndex: 0, data: bs58.encode(event) }] }]
      : []
    const transaction = { signatures: [signature], message: { accountKeys: [PROGRAM] } }
    return { slot, meta: { err: null, innerInstructions }, transaction } as T
  }
}

/** Takes listed transactions from some nodes, in their order. */
async function takeFromNodes(
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

const PAID_TX = { event: eventOf('PaymentReclaimed') }
const OTHER_TX = { event: eventOf('PaymentReclaimed', 2) }
const TX_WITHOUT_EVENTS = {}
const NODE_WITH_TX: NodeAnswers = { has: { a: PAID_TX } }
const NODE_WITH_OTHER_TX: NodeAnswers = { has: { a: OTHER_TX } }
const NODE_WITHOUT_EVENTS: NodeAnswers = { has: { a: TX_WITHOUT_EVENTS } }
const NODE_WITHOUT_TX: NodeAnswers = { has: {} }
const NODE_WITH_UNSUPPORTED_TX: NodeAnswers = { has: { a: 'unshown' } }
const CONTRADICTION_TEXT = 'contradict each other'

it.concurrent.each([
  'RegistrationPaid',
  'CommunityPaid',
  'CommunityRefused',
  'CommunityReleased',
  'PaymentSettled',
])('a %s is accepted where two nodes show the same', async (kind) => {
  const one: NodeAnswers = { has: { a: { event: eventOf(kind) } } }
  const other: NodeAnswers = { has: { a: { event: eventOf(kind, 2) } } }
  expect(await takeFromNodes([one!, one!])).toEqual(await takeFromNodes([one!]))
  await expect(takeFromNodes([one!, other!]), 'another event').rejects.toThrow(CONTRADICTION_TEXT)
  await expect(takeFromNodes([one!, NODE_WITHOUT_EVENTS!]), 'no event').rejects.toThrow(
    CONTRADICTION_TEXT,
  )
  await expect(takeFromNodes([one!, NODE_WITHOUT_TX!]), 'no transaction').rejects.toThrow(
    CONTRADICTION_TEXT,
  )
})

it.concurrent.each([
  ['its slot', { has: { a: { ...PAID_TX, slot: SLOT + 1 } } }],
  ['whether it did anything, as the first', NODE_WITHOUT_EVENTS!],
])('contradicting answers about %s are refused', async (_, other) => {
  await expect(takeFromNodes([NODE_WITH_TX!, other]), 'the other second').rejects.toThrow(
    CONTRADICTION_TEXT,
  )
  await expect(takeFromNodes([other, NODE_WITH_TX!]), 'the other first').rejects.toThrow(
    CONTRADICTION_TEXT,
  )
})

it.concurrent.each([
  ['says otherwise', NODE_WITH_OTHER_TX!],
  ['shows nothing', NODE_WITHOUT_EVENTS!],
  ['does not have what it lists', NODE_WITHOUT_TX!],
])('of three one that %s is outvoted', async (_, odd) => {
  const alone = await takeFromNodes([NODE_WITH_TX!])
  expect(await takeFromNodes([odd, NODE_WITH_TX!, NODE_WITH_TX!]), 'the first').toEqual(alone)
  expect(await takeFromNodes([NODE_WITH_TX!, odd, NODE_WITH_TX!]), 'the second').toEqual(alone)
  expect(await takeFromNodes([NODE_WITH_TX!, NODE_WITH_TX!, odd]), 'the third').toEqual(alone)
})

it.concurrent('a transaction that only one of three nodes lists delays nothing', async () => {
  const honest = { has: { b: PAID_TX } }
  expect(
    signaturesOf(
      await takeFromNodes([{ has: { a: PAID_TX, b: PAID_TX } }, honest, honest], ['a', 'b']),
    ),
  ).toEqual(['b'])
})

it.concurrent.each<[string, NodeAnswers]>([
  ['came to a stop', { has: {}, head: SLOT - 1, headMs: Date.now() - 120_000 }],
  ['keeps but what is newer', { has: {}, oldest: SLOT + 1 }],
])('a node that %s has not answered: the payment waits for two', async (_, second) => {
  await expect(takeFromNodes([NODE_WITH_TX, second])).rejects.toThrow('two nodes have to')
  expect(await takeFromNodes([NODE_WITH_TX, second, NODE_WITH_TX])).toEqual(
    await takeFromNodes([NODE_WITH_TX]),
  )
  await expect(takeFromNodes([NODE_WITH_TX, second, NODE_WITH_OTHER_TX])).rejects.toThrow(
    CONTRADICTION_TEXT,
  )
})

it.concurrent.each<[string, NodeAnswers]>([
  ['has not answered for a moment only', { has: {}, head: SLOT - 1, headMs: Date.now() }],
  ['has come to the slot', { has: {}, head: SLOT, headMs: Date.now() - 120_000 }],
])('a node that %s denies', async (_, second) => {
  await expect(takeFromNodes([NODE_WITH_TX!, second])).rejects.toThrow(CONTRADICTION_TEXT)
})

it.concurrent('a transaction version that one node does not support is read from two others; without two it stays open', async () => {
  const alone = await takeFromNodes([NODE_WITH_TX])
  await expect(
    takeFromNodes([NODE_WITH_UNSUPPORTED_TX, NODE_WITH_TX]),
    'the first of two',
  ).rejects.toThrow('two nodes have to')
  await expect(
    takeFromNodes([NODE_WITH_TX, NODE_WITH_UNSUPPORTED_TX]),
    'the second of two',
  ).rejects.toThrow('two nodes have to')
  expect(
    await takeFromNodes([NODE_WITH_UNSUPPORTED_TX, NODE_WITH_TX, NODE_WITH_TX]),
    'the first of three',
  ).toEqual(alone)
  expect(
    await takeFromNodes([NODE_WITH_TX, NODE_WITH_UNSUPPORTED_TX, NODE_WITH_TX]),
    'the second of three',
  ).toEqual(alone)
  expect(await takeFromNodes([NODE_WITH_UNSUPPORTED_TX, NODE_WITH_UNSUPPORTED_TX])).toEqual([])
})

const NODE_WITH_TWO_TXS: NodeAnswers = { has: { a: PAID_TX, b: PAID_TX } }
const RATE_LIMITED_NODE: RpcCall = async (method, params) => {
  if (method === 'getTransaction' && params[0] === 'b')
    throw new RpcError('rate_limited', 'HTTP 429', 1_500)
  return nodeOf(NODE_WITH_TWO_TXS)(method, params)
}

it.concurrent.each<[string, (NodeAnswers | RpcCall)[]]>([
  ['a node has not come to', [NODE_WITH_TWO_TXS, NODE_WITH_TX!]],
  ['is limited', [RATE_LIMITED_NODE]],
])(
  'what comes before one that %s is taken',
  async (_, nodes) => {
    const taken: ListedDecodedTransaction[] = []
    await expect(takeFromNodes(nodes, ['a', 'b'], taken)).rejects.toThrow()
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
  const has = Object.fromEntries(listed.map(({ signature }) => [signature, TX_WITHOUT_EVENTS]))
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
